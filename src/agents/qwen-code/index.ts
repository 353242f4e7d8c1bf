import type { Agent } from "../../model/agent.ts";
import { QWEN_NAMES } from "../shared/names/own-names.ts";
import { emitsOf } from "../shared/payload/claude-like.ts";
import { hookContent } from "../shared/payload/content.ts";
import { EVENTS, recognises, SOURCE, toEvents } from "./adapter.ts";
import { KNOWN } from "./known.ts";

export default {
  source: SOURCE,
  title: "Qwen Code",
  docs: "https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks/",
  emits: emitsOf(EVENTS),
  tokens: "none",
  capabilities: {
    basis: "documented",
    subagents: false,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  setsVariablesFrom: [".qwen/.env"],
  own: QWEN_NAMES,
  known: KNOWN,
  recognises,
  toContent: hookContent,
  toEvents,
} satisfies Agent;
