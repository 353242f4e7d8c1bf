import type { Agent } from "#core/model/agent.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { recognises, SOURCE, toEvents } from "./adapter.ts";
import { toContent } from "./content.ts";
import { KNOWN } from "./known.ts";
import { WINDSURF_NAMES } from "./own-names.ts";

export default {
  source: SOURCE,
  title: "Windsurf (Cascade)",
  otherNames: ["codeium", "cascade"],
  docs: "https://docs.windsurf.com/windsurf/cascade/hooks",
  emits: ["file.write", "prompt.submit", "tool.start", "tool.end", "turn.end"],
  tokens: "none",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "native",
    callIds: "minted",
    eventIds: "payload",
  },
  own: WINDSURF_NAMES,
  known: KNOWN,
  recognises,
  toContent,
  toFileWrites: writesOfTools({ write_code: "write" }),
  toEvents,
} satisfies Agent;
