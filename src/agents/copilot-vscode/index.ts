import type { Agent } from "#core/model/agent.ts";
import { hookContent } from "../shared/payload/content.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { adapter } from "./adapter.ts";
import { VSCODE_NAMES } from "./own-names.ts";
import { USER_FOLDERS } from "./user-folders.ts";

/** No installer: VS Code reads the files that the cards of Copilot CLI and Claude Code write. */
export default {
  ...adapter,
  title: "GitHub Copilot in VS Code (local agent)",
  otherNames: ["vscode", "vs-code", "visual-studio-code"],
  docs: "https://code.visualstudio.com/docs/agents/reference/hooks-reference",
  emits: ["file.write", ...adapter.emits],
  // Of each turn the last call only; the others are unknown
  tokens: "transcript",
  capabilities: {
    basis: "documented",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  own: VSCODE_NAMES,
  environment: ["COPILOT_CLI"],
  hasTerminals: true,
  toContent: hookContent,
  toFileWrites: writesOfTools({
    create_file: "create",
    createFile: "create",
    replace_string_in_file: "part",
    multi_replace_string_in_file: "part",
    insert_edit_into_file: "part",
    edit_notebook_file: "part",
    editFiles: "write",
    edit_files: "write",
    apply_patch: "patch",
    applyPatch: "patch",
  }),
  sessionsBelow: USER_FOLDERS,
  transcript: () => import("./transcript.ts"),
  runsHooksOf: ["copilot", "claude-code"],
} satisfies Agent;
