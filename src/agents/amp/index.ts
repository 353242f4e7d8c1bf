import type { Agent } from "#core/model/agent.ts";
import { adapter, toEntries, toFileWrites } from "./adapter.ts";
import { AMP_NAMES } from "./own-names.ts";

export default {
  ...adapter,
  title: "Amp",
  otherNames: ["sourcegraph"],
  docs: "https://ampcode.com/manual/plugin-api",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  capabilities: {
    basis: "documented",
    versions: "plugin API of 0.0.1790142911 (September 2026), thread files of public readers",
    subagents: false,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  own: AMP_NAMES,
  environment: ["AMP_DATA_DIR", "XDG_DATA_HOME"],
  toFileWrites,
  toEntries,
  sessionFolders: ["threads"],
  sessionsBelow: [".local/share/amp"],
  transcript: () => import("./transcript.ts"),
  transcriptNote: "threads that Amp keeps only on its servers have no file: their tokens are unknown",
  installer: () => import("./installer.ts"),
} satisfies Agent;
