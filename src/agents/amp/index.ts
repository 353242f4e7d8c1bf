import type { Agent } from "#core/model/agent.ts";
import { recognises, SOURCE, toEntries, toEvents } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { KNOWN } from "./known.ts";
import { AMP_NAMES } from "./names.ts";

export default {
  source: SOURCE,
  title: "Amp",
  otherNames: ["sourcegraph"],
  docs: "https://ampcode.com/manual/plugin-api",
  emits: ["file.write", "prompt.submit", "tool.end", "turn.end", "turn.error"],
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
  known: KNOWN,
  environment: ["AMP_DATA_DIR", "XDG_DATA_HOME"],
  recognises,
  toFileWrites,
  toEvents,
  toEntries,
  sessionsBelow: [".local/share/amp"],
  transcript: () => import("./transcript.ts"),
  transcriptNote: "threads that Amp keeps only on its servers have no file: their tokens are unknown",
  installer: () => import("./installer.ts"),
} satisfies Agent;
