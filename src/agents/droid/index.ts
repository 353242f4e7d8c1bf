import type { Agent } from "#core/model/agent.ts";
import { hookContent } from "../shared/payload/content.ts";
import { adapter } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { DROID_NAMES } from "./own-names.ts";

export default {
  ...adapter,
  title: "Factory Droid",
  docs: "https://docs.factory.ai/reference/hooks-reference",
  emits: ["file.write", ...adapter.emits],
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
  toContent: hookContent,
  toFileWrites,
  sessionsBelow: [".factory"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
