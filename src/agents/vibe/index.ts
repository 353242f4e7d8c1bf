import type { Agent } from "#core/model/agent.ts";
import { hookContent } from "../shared/payload/content.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { adapter } from "./adapter.ts";
import { EDITORS } from "./names.ts";
import { VIBE_NAMES } from "./own-names.ts";

export default {
  ...adapter,
  title: "Mistral Vibe",
  docs: "https://github.com/mistralai/mistral-vibe",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  // It reports neither a session's start nor its end
  endsSilently: true,
  hooksRunIn: "agent",
  capabilities: {
    basis: "recorded",
    versions: "3.0.3",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "arrival",
  },
  own: VIBE_NAMES,
  environment: ["VIBE_HOME"],
  toContent: hookContent,
  toFileWrites: writesOfTools(EDITORS),
  sessionsBelow: [".vibe"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
