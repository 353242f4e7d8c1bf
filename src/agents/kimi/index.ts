import type { Agent } from "#core/model/agent.ts";
import { hookContent } from "../shared/payload/content.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { recognises, SOURCE, toEvents } from "./adapter.ts";
import { KNOWN } from "./known.ts";
import { EDITORS } from "./names.ts";
import { KIMI_NAMES } from "./own-names.ts";

export default {
  source: SOURCE,
  title: "Kimi Code",
  otherNames: ["moonshot"],
  docs: "https://moonshotai.github.io/kimi-code/en/customization/hooks",
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
    "compaction",
    "permission",
    "notice",
  ],
  tokens: "transcript",
  // Only sessions in a terminal end with an event
  endsSilently: true,
  hooksRunIn: "agent",
  capabilities: {
    basis: "recorded",
    versions: "2.1.0",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  own: KIMI_NAMES,
  known: KNOWN,
  environment: ["KIMI_CODE_HOME"],
  recognises,
  toContent: hookContent,
  toFileWrites: writesOfTools(EDITORS),
  toEvents,
  sessionsBelow: [".kimi-code"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
