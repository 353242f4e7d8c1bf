import type { OwnNames } from "#core/model/agent.ts";

// Built-in tools and subagents that several agents have, from documentation and recordings, 2026-11-21. At `capture: none` these
// names are kept; other names become "other". Those of one agent are in its folder.

/** A list of names from a text with spaces and line breaks. */
export const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

/** Claude Code, and agents with the same tool names. */
export const CLAUDE_NAMES: OwnNames = {
  tools: words(`
    Agent AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree ExitPlanMode
    ExitWorktree Glob Grep KillBash KillShell LS LSP ListMcpResourcesTool Monitor MultiEdit NotebookEdit NotebookRead Read
    ReadMcpResourceTool SendMessage Skill SlashCommand StructuredOutput Task TaskCreate TaskGet TaskList TaskOutput TaskStop
    TaskUpdate TodoRead TodoWrite ToolSearch WebFetch WebSearch Write`),
  agentTypes: words("Bash Explore Plan claude-code-guide general-purpose output-style-setup statusline-setup"),
};

export const GEMINI_NAMES: OwnNames = {
  tools: words(`
    activate_skill ask_user cli_help codebase_investigator complete_task enter_plan_mode exit_plan_mode generalist
    get_internal_docs glob google_web_search grep_search invoke_agent list_directory read_file read_many_files replace
    run_shell_command save_memory search_file_content web_fetch write_file write_todos`),
  agentTypes: words("browser_agent cli_help codebase_investigator generalist"),
};

export const OPENCODE_NAMES: OwnNames = {
  tools: words(`
    apply_patch bash batch codesearch edit glob grep invalid list lsp multiedit patch plan_enter plan_exit question read
    skill task todoread todowrite webfetch websearch write`),
  agentTypes: words("build compaction explore general plan summary title"),
};
