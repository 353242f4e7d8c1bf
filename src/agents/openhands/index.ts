import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { adapter, toContent } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";

export default {
  ...adapter,
  title: "OpenHands CLI",
  otherNames: ["opendevin", "all-hands"],
  docs: "https://docs.openhands.dev/sdk/guides/hooks",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  // The agent's process has its own shell
  hooksRunIn: "agent",
  // Subagents run no hooks
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "1.16.0",
    subagents: true,
    sessionIds: "native",
    callIds: "transcript",
    eventIds: "arrival",
  },
  // Built-in tools and subagents of openhands-tools 1.21.0
  own: {
    tools: words(`
      apply_patch browser_click browser_close_tab browser_get_content browser_get_state browser_get_storage browser_go_back
      browser_list_tabs browser_navigate browser_scroll browser_set_storage browser_switch_tab browser_type consult_tom
      delegate edit file_editor finish glob grep invoke_skill list_directory planning_file_editor read_file sleeptime_compute
      switch_llm task task_tracker terminal think write_file`),
    agentTypes: words("bash-runner code-explorer default general-purpose web-researcher"),
  },
  environment: ["OPENHANDS_CONVERSATIONS_DIR", "OPENHANDS_PERSISTENCE_DIR"],
  toContent,
  toFileWrites,
  sessionsBelow: [".openhands"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
  hookRuns: () => import("./hook-runs.ts"),
} satisfies Agent;
