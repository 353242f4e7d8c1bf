import type { Agent } from "#core/model/agent.ts";
import { hookContent } from "../shared/payload/content.ts";
import { EVENTS, recognises, SOURCE, toEntries, toEvents } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { KNOWN } from "./known.ts";
import { AUGGIE_NAMES } from "./names.ts";

export default {
  source: SOURCE,
  title: "Auggie",
  otherNames: ["augment"],
  docs: "https://docs.augmentcode.com/cli/hooks",
  emits: ["file.write", "turn.error", ...new Set(Object.values(EVENTS))],
  tokens: "transcript",
  hooksRunIn: "likely",
  capabilities: {
    basis: "documented",
    versions: "0.36.0",
    subagents: true,
    sessionIds: "native",
    callIds: "transcript",
    eventIds: "arrival",
  },
  own: AUGGIE_NAMES,
  known: KNOWN,
  environment: ["AUGMENT_CONVERSATION_ID"],
  recognises,
  toContent: hookContent,
  toFileWrites,
  toEvents,
  toEntries,
  sessionsBelow: [".augment"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
