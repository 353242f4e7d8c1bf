import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { adapter, toContent } from "./adapter.ts";

export default {
  ...adapter,
  title: "Windsurf (Cascade)",
  otherNames: ["codeium", "cascade"],
  docs: "https://docs.windsurf.com/windsurf/cascade/hooks",
  emits: ["file.write", ...adapter.emits],
  tokens: "none",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "native",
    callIds: "minted",
    eventIds: "payload",
  },
  own: {
    tools: words("mcp_tool_use read_code run_command write_code"),
    agentTypes: [],
  },
  hasTerminals: true,
  toContent,
  toFileWrites: writesOfTools({ write_code: "write" }),
} satisfies Agent;
