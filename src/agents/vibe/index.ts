import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { hookContent } from "../shared/payload/content.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { adapter } from "./adapter.ts";
import { EDITORS } from "./names.ts";

export default {
  ...adapter,
  title: "Mistral Vibe",
  docs: "https://github.com/mistralai/mistral-vibe",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  // It reports neither a session's start nor its end
  endsSilently: true,
  hooksRunIn: "agent",
  capabilities: {
    basis: "recorded",
    versions: "3.0.3",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  own: {
    tools: words(`
      agents.interrupt agents.list agents.list_configs agents.send_message agents.spawn bash edit process.list process.output
      process.start process.stop process.write read_file run_typescript search_replace search_tool_functions skill sleep todo
      unified_harness_scratchpad wait write_file`),
    agentTypes: words("explore"),
  },
  environment: ["VIBE_HOME"],
  toContent: hookContent,
  toFileWrites: writesOfTools(EDITORS),
  sessionFolders: ["logs"],
  sessionsBelow: [".vibe"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
