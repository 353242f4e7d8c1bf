import type { Agent } from "#core/model/agent.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { adapter, toContent } from "./adapter.ts";
import { WINDSURF_NAMES } from "./own-names.ts";

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
  own: WINDSURF_NAMES,
  toContent,
  toFileWrites: writesOfTools({ write_code: "write" }),
} satisfies Agent;
