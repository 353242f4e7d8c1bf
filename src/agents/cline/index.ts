import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { adapter, toEntries } from "./adapter.ts";
import { toContent } from "./content.ts";
import { toFileWrites } from "./file-writes.ts";
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
  own: {
    tools: words(`
      access_mcp_resource apply_patch ask_followup_question ask_question attempt_completion browser_action editor
      execute_command fetch_web_content list_code_definition_names list_files new_task plan_mode_respond read_file read_files
      replace_in_file run_commands search_codebase search_files skills spawn_agent submit_and_exit use_mcp_tool
      use_subagents web_fetch write_to_file`),
    agentTypes: [],
  },
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
