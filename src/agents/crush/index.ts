import type { Agent } from "#core/model/agent.ts";
import { hookContent } from "../shared/payload/content.ts";
import { writesOfTools } from "../shared/payload/tool-writes.ts";
import { adapter } from "./adapter.ts";
import { CRUSH_NAMES, EDITORS } from "./own-names.ts";
import { hasSessions } from "./places.ts";

export default {
  ...adapter,
  title: "Crush",
  otherNames: ["charm", "charmbracelet"],
  docs: "https://github.com/charmbracelet/crush/blob/main/docs/hooks/README.md",
  emits: ["file.write", ...adapter.emits],
  // The database has the figures of a session's last call only, some of them estimates
  tokens: "none",
  // The recorded version reports neither a turn's nor a session's end
  endsSilently: true,
  // The agent's process has its own shell
  hooksRunIn: "agent",
  // Subagents run no hooks
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "0.90.0",
    subagents: true,
    sessionIds: "native",
    callIds: "transcript",
    eventIds: "arrival",
  },
  own: CRUSH_NAMES,
  environment: ["CRUSH", "CRUSH_SESSION_ID", "CRUSH_PROJECT_DIR"],
  inCommands: { session: ["CRUSH_SESSION_ID"], inOwnHooks: true },
  toContent: hookContent,
  toFileWrites: writesOfTools(EDITORS),
  hasSessions,
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
