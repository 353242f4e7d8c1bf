import { BUDGET, FINDINGS, REPORT, SESSIONS } from "./mcp-list-tools.ts";
import { BREAKDOWN, COST } from "./mcp-session-tools.ts";
import type { Tool } from "./mcp-tool.ts";

/**
 * The tools of `openhook-otel mcp`. Each asks a command for its JSON and answers with a part of it, named member by member: what is in no
 * JSON of ours is in no answer, and nothing is computed twice.
 */
export const TOOLS: readonly Tool[] = [COST, BREAKDOWN, REPORT, FINDINGS, SESSIONS, BUDGET];
