import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import type { Editors } from "../shared/payload/tool-writes.ts";

/** The agent's built-in tools and subagents. */
export const CRUSH_NAMES: OwnNames = {
  tools: words(`
    agent agentic_fetch bash crush_info crush_logs download edit fetch glob grep job_kill job_output list_mcp_resources
    ls lsp_diagnostics lsp_references lsp_restart multiedit read_mcp_resource sourcegraph todos view web_fetch web_search
    write`),
  agentTypes: words("agent agentic_fetch"),
};

/** The tools that change files. */
export const EDITORS: Editors = { write: "whole", edit: "part", multiedit: "part" };
