import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { adapter, toContent } from "./adapter.ts";
import { remarks, toEntries } from "./entries.ts";
import { REPLY } from "./payload.ts";

export default {
  ...adapter,
  title: "Cursor",
  otherNames: ["anysphere"],
  docs: "https://cursor.com/docs/hooks",
  emits: ["file.write", ...adapter.emits],
  tokens: "payload",
  // On the desktop a session ends only when its window is closed
  endsSilently: true,
  hooksRunIn: "likely",
  capabilities: {
    basis: "documented",
    versions: "3.12 to 3.18 (desktop), 2026.07 to 2026.09 (CLI)",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  own: {
    tools: words(`
      ApplyPatch AskQuestion Await Delete EditNotebook Glob Grep LS Read ReadLints SemanticSearch Shell StrReplace SwitchMode
      Task TodoWrite WebFetch WebSearch Write`),
    agentTypes: words("browser-use explore generalPurpose shell"),
  },
  environment: ["CURSOR_VERSION"],
  replies: { "*": REPLY },
  hasTerminals: true,
  toContent,
  toFileWrites: writesOfTools({
    Write: "whole",
    StrReplace: "part",
    EditNotebook: "part",
    Delete: "delete",
    ApplyPatch: "patch",
  }),
  toEntries,
  remarks,
  installer: () => import("./installer.ts"),
  mcpServer: () => import("./mcp-server.ts"),
} satisfies Agent;
