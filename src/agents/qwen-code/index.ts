import type { Agent } from "#core/model/agent.ts";
import { displayedWrites } from "../shared/gemini/file-writes.ts";
import { hookContent } from "../shared/payload/content.ts";
import { adapter } from "./adapter.ts";
import { EDITORS, QWEN_NAMES } from "./names.ts";

export default {
  ...adapter,
  title: "Qwen Code",
  otherNames: ["alibaba"],
  docs: "https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks/",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  // Only sessions in a terminal end with an event
  endsSilently: true,
  hooksRunIn: "agent",
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "0.24.4",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  setsVariablesFrom: [".qwen/.env"],
  own: QWEN_NAMES,
  environment: ["QWEN_CODE_SESSION_ID", "QWEN_HOME", "QWEN_RUNTIME_DIR"],
  inCommands: { session: ["QWEN_CODE_SESSION_ID"], inOwnHooks: true },
  toContent: hookContent,
  toFileWrites: displayedWrites("PostToolUse", EDITORS),
  sessionFolders: ["projects", "tmp"],
  sessionsBelow: [".qwen"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
  nativeExport: () => import("./native-export.ts"),
  mcpServer: () => import("./mcp-server.ts"),
  configured: () => import("./configured.ts"),
  native: () => import("./native.ts"),
} satisfies Agent;
