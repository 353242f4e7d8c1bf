import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
export const CURSOR_NAMES: OwnNames = {
  tools: words(`
    ApplyPatch AskQuestion Await Delete EditNotebook Glob Grep LS Read ReadLints SemanticSearch Shell StrReplace SwitchMode
    Task TodoWrite WebFetch WebSearch Write`),
  agentTypes: words("browser-use explore generalPurpose shell"),
};
