import type { Agent } from "#core/model/agent.ts";
import { displayedWrites } from "../shared/gemini/file-writes.ts";
import { GEMINI_NAMES } from "../shared/names/own-names.ts";
import { hookContent } from "../shared/payload/content.ts";
import { adapter } from "./adapter.ts";
import { EDITORS } from "./tools.ts";

export default {
  ...adapter,
  title: "Gemini CLI",
  otherNames: ["google"],
  docs: "https://geminicli.com/docs/hooks/reference/",
  provider: "gcp.gemini",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  capabilities: {
    basis: "recorded",
    versions: "0.24.5 to 0.61.0",
    subagents: true,
    sessionIds: "native",
    callIds: "transcript",
    eventIds: "payload",
  },
  setsVariablesFrom: [".gemini/.env"],
  own: GEMINI_NAMES,
  // As written in 0.61.0: a request with Google's grounding, which is in no file of the session
  searchTools: ["google_web_search"],
  environment: ["GEMINI_SESSION_ID", "GEMINI_CLI_HOME"],
  // Seen with 0.61.0: commands do not get the session's id
  inCommands: { mark: "GEMINI_CLI" },
  toContent: hookContent,
  toFileWrites: displayedWrites("AfterTool", EDITORS),
  sessionFolders: ["tmp"],
  sessionsBelow: [".gemini"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
  nativeExport: () => import("./native-export.ts"),
  mcpServer: () => import("./mcp-server.ts"),
  configured: () => import("./configured.ts"),
  native: () => import("./native.ts"),
} satisfies Agent;
