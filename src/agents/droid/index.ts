import type { Agent } from "#core/model/agent.ts";
import { emitsOf } from "../shared/payload/claude-like.ts";
import { hookContent } from "../shared/payload/content.ts";
import { EVENTS, recognises, SOURCE, toEvents } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { KNOWN } from "./known.ts";
import { DROID_NAMES } from "./names.ts";

export default {
  source: SOURCE,
  title: "Factory Droid",
  docs: "https://docs.factory.ai/reference/hooks-reference",
  emits: ["file.write", "subagent.start", ...emitsOf(EVENTS)],
  tokens: "transcript",
  // A subagent is a separate session with its own start and end
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "0.225.2",
    subagents: true,
    sessionIds: "native",
    callIds: "transcript",
    eventIds: "arrival",
  },
  own: DROID_NAMES,
  known: KNOWN,
  recognises,
  toContent: hookContent,
  toFileWrites,
  toEvents,
  sessionsBelow: [".factory"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
