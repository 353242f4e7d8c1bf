import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { adapter, toContent } from "./adapter.ts";

export default {
  ...adapter,
  title: "Antigravity",
  docs: "https://antigravity.google/docs/hooks",
  tokens: "none",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  own: {
    tools: words(`
      browser_subagent command_status find_by_name grep_search list_dir multi_replace_file_content read_url_content
      replace_file_content run_command search_web send_command_input task_boundary view_code_item view_file view_file_outline
      write_to_file`),
    agentTypes: [],
  },
  hasTerminals: true,
  toContent,
} satisfies Agent;
