import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { hookContent } from "../shared/payload/content.ts";
import { adapter, toFileWrites } from "./adapter.ts";

export default {
  ...adapter,
  title: "Kiro",
  otherNames: ["amazon-q"],
  docs: "https://kiro.dev/docs/cli/hooks/",
  emits: ["file.write", ...adapter.emits],
  // Most billed turns only have placeholder counts; if they are real, the session file has them
  tokens: "none",
  // CLI 1.x, 2.x and the IDE have no session end
  endsSilently: true,
  hooksRunIn: "likely",
  capabilities: {
    basis: "documented",
    versions: "CLI 1.29 to 2.28 and v3, IDE 0.11 to 1.0",
    subagents: true,
    sessionIds: "minted",
    callIds: "minted",
    eventIds: "arrival",
  },
  own: {
    tools: words(`
      aws code execute_bash execute_cmd execute_command execute_pwsh fs_read fs_write glob grep introspect
      invoke_sub_agent knowledge read report_issue shell subagent thinking todo_list use_aws use_subagent web_fetch web_search
      write`),
    agentTypes: words("kiro_default"),
  },
  environment: ["KIRO_HOME", "KIRO_SESSION_ID", "KIRO_VERSION"],
  inCommands: { session: ["KIRO_SESSION_ID"], inOwnHooks: true },
  hasTerminals: true,
  toContent: hookContent,
  toFileWrites,
  sessionsBelow: [".kiro"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
