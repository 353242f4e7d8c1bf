import type { Agent } from "#core/model/agent.ts";
import { adapter, toEntries } from "./adapter.ts";
import { toContent } from "./content.ts";
import { toFileWrites } from "./file-writes.ts";
import { CLINE_NAMES } from "./own-names.ts";
import { taskFolders } from "./task-folders.ts";

export default {
  ...adapter,
  title: "Cline",
  otherNames: ["claude-dev"],
  docs: "https://docs.cline.bot/customization/hooks",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "3.0.57 to 3.0.65 (CLI)",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  own: CLINE_NAMES,
  environment: ["CLINE_DIR", "CLINE_DATA_DIR", "CLINE_SESSION_DATA_DIR"],
  toContent,
  toFileWrites,
  toEntries,
  sessionsBelow: [".cline", ...taskFolders()],
  transcript: () => import("./transcript.ts"),
  transcriptNote:
    "tasks of the editor extension are read from VS Code's globalStorage; if a task is deleted, its tokens and model calls are unknown",
  installer: () => import("./installer.ts"),
} satisfies Agent;
