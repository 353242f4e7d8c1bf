import type { Agent } from "#core/model/agent.ts";
import { adapter, toContent } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { OPENHANDS_NAMES } from "./own-names.ts";

export default {
  ...adapter,
  title: "OpenHands CLI",
  otherNames: ["opendevin", "all-hands"],
  docs: "https://docs.openhands.dev/sdk/guides/hooks",
  emits: ["file.write", ...adapter.emits],
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
  environment: ["OPENHANDS_CONVERSATIONS_DIR", "OPENHANDS_PERSISTENCE_DIR"],
  toContent,
  toFileWrites,
  sessionsBelow: [".openhands"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
