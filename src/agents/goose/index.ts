import type { Agent } from "#core/model/agent.ts";
import { hookContent } from "../shared/payload/content.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { adapter } from "./adapter.ts";
import { EDITORS, GOOSE_NAMES } from "./own-names.ts";

export default {
  ...adapter,
  title: "Goose",
  otherNames: ["block"],
  docs: "https://block.github.io/goose/docs/guides/context-engineering/hooks",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  writesAfterTools: true,
  hooksRunIn: "likely",
  // Subagents run no hooks
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "1.52.0",
    subagents: true,
    sessionIds: "local",
    callIds: "native",
    eventIds: "arrival",
  },
  own: GOOSE_NAMES,
  environment: ["XDG_DATA_HOME", "GOOSE_PATH_ROOT"],
  toContent: hookContent,
  toFileWrites: writesOfTools(EDITORS),
  sessionFolders: ["sessions"],
  sessionsBelow: [".local/share/goose", "AppData/Roaming/Block/goose"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
  nativeExport: () => import("./native-export.ts"),
  native: () => import("./native.ts"),
} satisfies Agent;
