import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import type { Editors } from "../shared/payload/tool-writes.ts";

/** Built-in tools in the documentation and in the program 0.36.0, read 2026-11-26. */
export const AUGGIE_NAMES: OwnNames = {
  tools: words(`
    add_tasks apply_patch ask-user codebase-retrieval diagnostics github-api kill-process launch-process linear
    list-processes open-browser read-process read-terminal remember remove-files render-mermaid reorganize_tasklist
    save-file search-untruncated str-replace-editor update_tasks view view-range-untruncated view_tasklist web-fetch
    web-search write-process`),
  agentTypes: [],
};

/** The tools that change files. */
export const EDITORS: Editors = { "save-file": "write", "str-replace-editor": "part" };
