import type { Agent } from "#core/model/agent.ts";
import { adapter, toContent } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { GROK_NAMES } from "./own-names.ts";

export default {
  ...adapter,
  title: "Grok Build",
  otherNames: ["xai", "x-ai"],
  docs: "https://docs.x.ai/build/features/hooks",
  emits: ["file.write", ...adapter.emits],
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
  environment: ["GROK_HOME"],
  toContent,
  toFileWrites,
  sessionsBelow: [".grok"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
