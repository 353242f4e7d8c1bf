import type { Agent } from "../../model/agent.ts";
import { CLAUDE_NAMES } from "../shared/names/own-names.ts";
import { emitsOf } from "../shared/payload/claude-like.ts";
import { hookContent } from "../shared/payload/content.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { EVENTS, recognises, SOURCE, toEvents } from "./adapter.ts";
import { KNOWN } from "./known.ts";

export default {
  source: SOURCE,
  title: "Goose",
  docs: "https://block.github.io/goose/docs/guides/context-engineering/hooks",
  emits: ["file.write", ...emitsOf(EVENTS)],
  tokens: "none",
  capabilities: {
    basis: "documented",
    versions: "1.38 and later",
    subagents: false,
    sessionIds: "local",
    callIds: "native",
    eventIds: "arrival",
  },
  own: CLAUDE_NAMES,
  known: KNOWN,
  recognises,
  toContent: hookContent,
  toFileWrites: writesOfTools({ write: "whole", edit: "part" }),
  toEvents,
} satisfies Agent;
