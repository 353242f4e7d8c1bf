import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { hookContent } from "../shared/payload/content.ts";
import { adapter } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";

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
  // Built-in tools and subagents of 0.225.2
  own: {
    tools: words(`
      ApplyPatch AskUser Create Edit Execute ExitSpecMode FetchUrl GenerateDroid Glob Grep LS MultiEdit Read Skill Task
      TaskOutput TodoWrite ViewImage WebSearch`),
    agentTypes: words("explorer worker"),
  },
  toContent: hookContent,
  toFileWrites,
  sessionFolders: ["sessions"],
  sessionsBelow: [".factory"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
  hookRuns: () => import("./hook-runs.ts"),
} satisfies Agent;
