import type { OwnNames } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";

/** The agent's built-in tools and subagents. */
export const KIMI_NAMES: OwnNames = {
  tools: words(`
    Agent AgentSwarm AskUserQuestion Bash CreateGoal CronCreate CronDelete CronList Edit EnterPlanMode ExitPlanMode FetchURL
    GetGoal Glob Grep NotifyUser Read ReadMediaFile SetGoalBudget Skill TaskList TaskOutput TaskStop TodoList TowerInit
    TowerStatus TowerTeardown UpdateGoal WaitFor WebSearch Write`),
  agentTypes: words("agent coder explore plan"),
};
