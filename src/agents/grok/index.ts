import type { Agent } from "#core/model/agent.ts";
import { emitted, recognises, SOURCE, toContent, toEvents } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { KNOWN } from "./known.ts";
import { GROK_NAMES } from "./names.ts";

export default {
  source: SOURCE,
  title: "Grok Build",
  otherNames: ["xai", "x-ai"],
  docs: "https://docs.x.ai/build/features/hooks",
  emits: ["file.write", ...emitted()],
  tokens: "transcript",
  // A subagent is a separate session with its own start and end
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "1.0.41",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  own: GROK_NAMES,
  known: KNOWN,
  environment: ["GROK_HOME"],
  recognises,
  toContent,
  toFileWrites,
  toEvents,
  sessionsBelow: [".grok"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
