import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** Built-in tools and subagents of 0.225.2. */
export const DROID_NAMES: OwnNames = {
  tools: words(`
    ApplyPatch AskUser Create Edit Execute ExitSpecMode FetchUrl GenerateDroid Glob Grep LS MultiEdit Read Skill Task
    TaskOutput TodoWrite ViewImage WebSearch`),
  agentTypes: words("explorer worker"),
};
