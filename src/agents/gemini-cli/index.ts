import type { Agent } from "#core/model/agent.ts";
import { displayedWrites } from "../shared/gemini/file-writes.ts";
import { GEMINI_NAMES } from "../shared/names/own-names.ts";
import { hookContent } from "../shared/payload/content.ts";
import { recognises, SOURCE, toEvents } from "./adapter.ts";
import { KNOWN } from "./known.ts";
import { EDITORS } from "./tools.ts";

export default {
  source: SOURCE,
  title: "Gemini CLI",
  otherNames: ["google"],
  docs: "https://geminicli.com/docs/hooks/reference/",
  provider: "gcp.gemini",
  emits: [
    "file.write",
    "session.start",
    "prompt.submit",
    "tool.start",
    "tool.end",
    "session.end",
    "turn.end",
    "model.start",
    "model.end",
    "permission",
    "notice",
  ],
  tokens: "transcript",
  capabilities: {
    basis: "recorded",
    versions: "0.24.5 to 0.61.0",
    subagents: true,
    sessionIds: "native",
    callIds: "transcript",
    eventIds: "payload",
  },
  setsVariablesFrom: [".gemini/.env"],
  own: GEMINI_NAMES,
  known: KNOWN,
  environment: ["GEMINI_SESSION_ID", "GEMINI_CLI_HOME"],
  recognises,
  toContent: hookContent,
  toFileWrites: displayedWrites("AfterTool", EDITORS),
  toEvents,
  sessionsBelow: [".gemini"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
