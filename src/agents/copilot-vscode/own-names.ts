import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
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
