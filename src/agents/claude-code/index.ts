import type { Agent } from "#core/model/agent.ts";
import { CLAUDE_NAMES } from "../shared/names/own-names.ts";
import { hookContent } from "../shared/payload/content.ts";
import { recognises, SOURCE, toEvents } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { KNOWN } from "./known.ts";

export default {
  source: SOURCE,
  title: "Claude Code",
  otherNames: ["anthropic"],
  docs: "https://code.claude.com/docs/en/hooks",
  provider: "anthropic",
  emits: [
    "file.write",
    "session.start",
    "prompt.submit",
    "tool.start",
    "tool.end",
    "session.end",
    "turn.end",
    "turn.error",
    "subagent.start",
    "subagent.end",
    "tool.batch",
    "compaction",
  ],
  tokens: "transcript",
  // Earlier versions name neither agents nor prompts
  hooksNameAgents: "with-prompts",
  capabilities: {
    basis: "recorded",
    versions: "1.0.80 to 2.1.332",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  setsVariablesFrom: [".claude/settings.json", ".claude/settings.local.json"],
  own: CLAUDE_NAMES,
  known: KNOWN,
  environment: ["CLAUDE_CODE_SESSION_ID", "CLAUDE_PID", "CLAUDE_PROJECT_DIR", "CLAUDE_CONFIG_DIR"],
  recognises,
  toContent: hookContent,
  toFileWrites,
  toEvents,
  sessionsBelow: [".claude", ".config/claude"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
