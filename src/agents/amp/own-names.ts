import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import type { Editors } from "../shared/payload/tool-writes.ts";

/** Built-in tools in public thread files and readers of them, read 2026-11-26. */
export const AMP_NAMES: OwnNames = {
  tools: words(`
    Bash Glob Grep Read Task apply_patch create_file edit_file find_thread finder format_file get_diagnostics glob
    handoff librarian list_directory look_at mermaid oracle painter read_mcp_resource read_thread read_web_page
    shell_command skill todo_read todo_write undo_edit update_plan view_image web_search write_file`),
  agentTypes: [],
};

/** The tools that change files. */
export const EDITORS: Editors = { create_file: "whole", write_file: "whole", edit_file: "part", undo_edit: "part" };
