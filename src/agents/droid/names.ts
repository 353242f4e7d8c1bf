import type { OwnNames } from "#core/model/agent.ts";

/** Built-in tools and subagents of 0.225.2. */
export const DROID_NAMES: OwnNames = {
  tools:
    `ApplyPatch AskUser Create Edit Execute ExitSpecMode FetchUrl GenerateDroid Glob Grep LS MultiEdit Read Skill Task
    TaskOutput TodoWrite ViewImage WebSearch`.split(/\s+/),
  agentTypes: ["explorer", "worker"],
};
