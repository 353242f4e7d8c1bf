import type { Agent } from "../../model/agent.ts";
import { KILO_NAMES } from "../shared/names/own-names.ts";
import { toContent } from "../shared/opencode/content.ts";
import { toFileWrites } from "../shared/opencode/file-writes.ts";
import { KNOWN } from "../shared/opencode/known.ts";
import { recognises, toEntries, toEvents } from "./adapter.ts";
import { VARIANT } from "./variant.ts";

export default {
  source: VARIANT.source,
  title: VARIANT.title,
  docs: "https://kilo.ai/docs/automate/extending/plugins",
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
    "model.end",
    "compaction",
    "notice",
  ],
  tokens: "transcript",
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "7.7.7 to 7.7.9",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  own: KILO_NAMES,
  known: KNOWN,
  environment: ["XDG_DATA_HOME", VARIANT.databaseVariable],
  recognises,
  toContent,
  toFileWrites,
  toEvents,
  toEntries,
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
