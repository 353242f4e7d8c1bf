import type { Agent } from "../../model/agent.ts";
import { CLAUDE_NAMES } from "../shared/names/own-names.ts";
import { emitsOf } from "../shared/payload/claude-like.ts";
import { hookContent } from "../shared/payload/content.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { EVENTS, recognises, SOURCE, toEvents } from "./adapter.ts";
import { KNOWN } from "./known.ts";

export default {
  source: SOURCE,
  title: "Kimi Code",
  docs: "https://moonshotai.github.io/kimi-code/en/customization/hooks",
  emits: ["file.write", ...emitsOf(EVENTS)],
  tokens: "none",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  own: CLAUDE_NAMES,
  known: KNOWN,
  recognises,
  toContent: hookContent,
  toFileWrites: writesOfTools({ Write: "whole", Edit: "part" }),
  toEvents,
} satisfies Agent;
