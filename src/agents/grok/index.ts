import type { Agent } from "../../model/agent.ts";
import { CLAUDE_NAMES } from "../shared/names/own-names.ts";
import { emitsOf } from "../shared/payload/claude-like.ts";
import { hookContent } from "../shared/payload/content.ts";
import { EVENTS, recognises, SOURCE, toEvents } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { KNOWN } from "./known.ts";

export default {
  source: SOURCE,
  title: "Grok Build",
  docs: "https://docs.x.ai/build/features/hooks",
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
  toFileWrites,
  toEvents,
} satisfies Agent;
