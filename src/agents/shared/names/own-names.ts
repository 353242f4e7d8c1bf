import type { OwnNames } from "../../../model/agent.ts";

// Built-in tools and subagents of agents, from their documentation and recordings, 2026-11-21. At `capture: none` these names are
// kept; other names become "other".

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Claude Code, and agents with the same tool names. */
export const CLAUDE_NAMES: OwnNames = {
  tools: words(`
    Agent AskUserQuestion Bash BashOutput CronCreate CronDelete CronList Edit EnterPlanMode EnterWorktree ExitPlanMode
    ExitWorktree Glob Grep KillBash KillShell LS LSP ListMcpResourcesTool Monitor MultiEdit NotebookEdit NotebookRead Read
    ReadMcpResourceTool SendMessage Skill SlashCommand StructuredOutput Task TaskCreate TaskGet TaskList TaskOutput TaskStop
    TaskUpdate TodoRead TodoWrite ToolSearch WebFetch WebSearch Write`),
  agentTypes: words("Bash Explore Plan claude-code-guide general-purpose output-style-setup statusline-setup"),
};

export const CODEX_NAMES: OwnNames = {
  tools: words(`
    Bash apply_patch collaboration.close_agent collaboration.followup_task collaboration.interrupt_agent
    collaboration.list_agents collaboration.resume_agent collaboration.send_input collaboration.send_message
    collaboration.spawn_agent collaboration.wait_agent close_agent exec exec_command image_generation_call js_repl
    list_mcp_resource_templates list_mcp_resources local_shell_call read_mcp_resource request_user_input resume_agent
    send_input shell shell_command spawn_agent tool_search_call unified_exec update_plan view_image wait wait_agent
    web_search_call write_stdin`),
  agentTypes: words("default explorer worker"),
};

export const GEMINI_NAMES: OwnNames = {
  tools: words(`
    activate_skill ask_user cli_help codebase_investigator complete_task enter_plan_mode exit_plan_mode generalist
    get_internal_docs glob google_web_search grep_search invoke_agent list_directory read_file read_many_files replace
    run_shell_command save_memory search_file_content web_fetch write_file write_todos`),
  agentTypes: words("browser_agent cli_help codebase_investigator generalist"),
};

export const QWEN_NAMES: OwnNames = {
  tools: [...GEMINI_NAMES.tools, ...words("agent edit skill task todo_write exit_plan_mode lsp")],
  agentTypes: words("general-purpose Explore"),
};

/** Copilot CLI's names, and the Claude Code names that its hooks under PascalCase names receive. */
export const COPILOT_NAMES: OwnNames = {
  tools: words(`
    Agent AskUserQuestion Bash Edit Glob Grep Read TodoWrite WebFetch WebSearch Write apply_patch ask_user bash create edit
    exit_plan_mode fetch_copilot_cli_documentation glob grep list_agents list_bash list_powershell powershell read_agent
    read_bash read_powershell report_intent rg skill sql stop_bash stop_powershell store_memory str_replace_editor task
    task_complete update_todo view web_fetch web_search write_bash write_powershell`),
  agentTypes: words("code-review explore general-purpose task"),
};

export const VSCODE_NAMES: OwnNames = {
  tools: words(`
    applyPatch apply_patch changes codebase createDirectory createFile create_and_run_task create_directory create_file
    editFiles edit_files edit_notebook_file fetch fetch_webpage fileSearch file_search getTerminalOutput get_changed_files
    get_errors get_terminal_output get_vscode_api githubRepo github_repo grep_search insert_edit_into_file
    install_extension listDirectory list_code_usages list_dir manage_todo_list multi_replace_string_in_file problems
    readFile read_file replace_string_in_file runInTerminal runSubagent runTasks runTerminalCommand runTests
    run_in_terminal run_notebook_cell run_task run_tests run_vscode_command semantic_search textSearch usages`),
  agentTypes: [],
};

export const CURSOR_NAMES: OwnNames = {
  tools: words(`
    ApplyPatch AskQuestion Await Delete EditNotebook Glob Grep LS Read ReadLints SemanticSearch Shell StrReplace SwitchMode
    Task TodoWrite WebFetch WebSearch Write`),
  agentTypes: words("browser-use explore generalPurpose shell"),
};

export const KIRO_NAMES: OwnNames = {
  tools: words(`
    aws code execute_bash execute_cmd execute_command execute_pwsh fs_read fs_write glob grep introspect
    invoke_sub_agent knowledge read report_issue shell subagent thinking todo_list use_aws use_subagent web_fetch web_search
    write`),
  agentTypes: words("kiro_default"),
};

export const CLINE_NAMES: OwnNames = {
  tools: words(`
    access_mcp_resource apply_patch ask_followup_question ask_question attempt_completion browser_action editor
    execute_command fetch_web_content list_code_definition_names list_files new_task plan_mode_respond read_file read_files
    replace_in_file run_commands search_codebase search_files skills spawn_agent submit_and_exit use_mcp_tool
    use_subagents web_fetch write_to_file`),
  agentTypes: [],
};

export const OPENCODE_NAMES: OwnNames = {
  tools: words(`
    apply_patch bash batch codesearch edit glob grep invalid list lsp multiedit patch plan_enter plan_exit question read
    skill task todoread todowrite webfetch websearch write`),
  agentTypes: words("build compaction explore general plan summary title"),
};

export const KILO_NAMES: OwnNames = {
  tools: OPENCODE_NAMES.tools,
  agentTypes: [...OPENCODE_NAMES.agentTypes, ...words("ask code debug orchestrator")],
};

export const PI_NAMES: OwnNames = { tools: words("bash edit find grep ls read write"), agentTypes: [] };

export const WINDSURF_NAMES: OwnNames = {
  tools: words("mcp_tool_use read_code run_command write_code"),
  agentTypes: [],
};

export const ANTIGRAVITY_NAMES: OwnNames = {
  tools: words(`
    browser_subagent command_status find_by_name grep_search list_dir multi_replace_file_content read_url_content
    replace_file_content run_command search_web send_command_input task_boundary view_code_item view_file view_file_outline
    write_to_file`),
  agentTypes: [],
};

export const CRUSH_NAMES: OwnNames = {
  tools: words(`
    agent agentic_fetch bash crush_info crush_logs download edit fetch glob grep job_kill job_output list_mcp_resources
    ls lsp_diagnostics lsp_references lsp_restart multiedit read_mcp_resource sourcegraph todos view web_fetch web_search
    write`),
  agentTypes: words("agent agentic_fetch"),
};

export const GOOSE_NAMES: OwnNames = {
  tools: words(`
    analyze automation_script cache computer_control delegate edit list_resources load load_skill manage_extensions
    manage_schedule platform__manage_schedule read_resource recall_memories remember_memory search_available_extensions
    search_memories shell todo__write todo_write tree web_scrape write`),
  agentTypes: words("delegate"),
};

export const VIBE_NAMES: OwnNames = {
  tools: words(`
    agents.interrupt agents.list agents.list_configs agents.send_message agents.spawn bash edit process.list process.output
    process.start process.stop process.write read_file run_typescript search_replace search_tool_functions skill sleep todo
    unified_harness_scratchpad wait write_file`),
  agentTypes: words("explore"),
};

export const KIMI_NAMES: OwnNames = {
  tools: words(`
    Agent AgentSwarm AskUserQuestion Bash CreateGoal CronCreate CronDelete CronList Edit EnterPlanMode ExitPlanMode FetchURL
    GetGoal Glob Grep NotifyUser Read ReadMediaFile SetGoalBudget Skill TaskList TaskOutput TaskStop TodoList TowerInit
    TowerStatus TowerTeardown UpdateGoal WaitFor WebSearch Write`),
  agentTypes: words("agent coder explore plan"),
};
