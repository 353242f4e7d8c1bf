import type { Agent } from "#core/model/agent.ts";
import { emitsOf } from "../shared/payload/claude-like.ts";
import { EVENTS, recognises, SOURCE, toContent, toEvents } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { KNOWN } from "./known.ts";
import { OPENHANDS_NAMES } from "./names.ts";

export default {
  source: SOURCE,
  title: "OpenHands CLI",
  otherNames: ["opendevin", "all-hands"],
  docs: "https://docs.openhands.dev/sdk/guides/hooks",
  emits: ["file.write", ...emitsOf(EVENTS)],
  tokens: "transcript",
  // The agent's process has its own shell
  hooksRunIn: "agent",
  // Subagents run no hooks
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "1.16.0",
    subagents: true,
    sessionIds: "native",
    callIds: "transcript",
    eventIds: "arrival",
  },
  own: OPENHANDS_NAMES,
  known: KNOWN,
  environment: ["OPENHANDS_CONVERSATIONS_DIR", "OPENHANDS_PERSISTENCE_DIR"],
  recognises,
  toContent,
  toFileWrites,
  toEvents,
  sessionsBelow: [".openhands"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
