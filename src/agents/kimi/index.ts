import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { hookContent } from "../shared/payload/content.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { adapter } from "./adapter.ts";
import { EDITORS } from "./names.ts";

export default {
  ...adapter,
  title: "Kimi Code",
  otherNames: ["moonshot"],
  docs: "https://moonshotai.github.io/kimi-code/en/customization/hooks",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  // Only sessions in a terminal end with an event
  endsSilently: true,
  hooksRunIn: "agent",
  capabilities: {
    basis: "recorded",
    versions: "2.1.0",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  own: {
    tools: words(`
      Agent AgentSwarm AskUserQuestion Bash CreateGoal CronCreate CronDelete CronList Edit EnterPlanMode ExitPlanMode FetchURL
      GetGoal Glob Grep NotifyUser Read ReadMediaFile SetGoalBudget Skill TaskList TaskOutput TaskStop TodoList TowerInit
      TowerStatus TowerTeardown UpdateGoal WaitFor WebSearch Write`),
    agentTypes: words("agent coder explore plan"),
  },
  environment: ["KIMI_CODE_HOME"],
  toContent: hookContent,
  toFileWrites: writesOfTools(EDITORS),
  sessionFolders: ["sessions"],
  sessionsBelow: [".kimi-code"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
