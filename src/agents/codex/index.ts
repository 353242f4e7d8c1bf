import type { Agent } from "#core/model/agent.ts";
import { hookContent } from "../shared/payload/content.ts";
import { adapter } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { CODEX_NAMES } from "./own-names.ts";
import { rateLimitsOf, subscriptionOf } from "./rate-limits.ts";
import { toEntries } from "./requests.ts";

export default {
  ...adapter,
  title: "Codex",
  otherNames: ["openai"],
  docs: "https://developers.openai.com/codex/hooks",
  provider: "openai",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  // The terminal interface works through a server in the background, which reports no end when the user leaves
  endsSilently: true,
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "0.80.0 to 0.171.0",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  own: CODEX_NAMES,
  environment: ["CODEX_HOME", "CODEX_THREAD_ID"],
  toContent: hookContent,
  toFileWrites,
  toEntries,
  rateLimitsOf,
  subscriptionOf,
  sessionsBelow: [".codex"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
