import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import type { Editors } from "../shared/payload/tool-writes.ts";

/** The agent's built-in tools and subagents. */
export const GOOSE_NAMES: OwnNames = {
  tools: words(`
    analyze automation_script cache computer_control delegate edit list_resources load load_skill manage_extensions
    manage_schedule platform__manage_schedule read_resource recall_memories remember_memory search_available_extensions
    search_memories shell todo__write todo_write tree web_scrape write`),
  agentTypes: words("delegate"),
};

/** The tools that change files. */
export const EDITORS: Editors = { write: "whole", edit: "part" };
