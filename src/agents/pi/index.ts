import type { Agent } from "#core/model/agent.ts";
import { words } from "../shared/names/own-names.ts";
import { adapter, toEntries } from "./adapter.ts";
import { toContent } from "./content.ts";
import { toFileWrites } from "./file-writes.ts";

export default {
  ...adapter,
  title: "pi",
  docs: "https://github.com/earendil-works/pi/blob/main/packages/coding-agent/docs/extensions.md",
  emits: ["file.write", ...adapter.emits],
  tokens: "transcript",
  hooksNameAgents: true,
  capabilities: {
    basis: "recorded",
    versions: "0.73.1 to 1.6.0",
    subagents: true,
    sessionIds: "native",
    callIds: "native",
    eventIds: "payload",
  },
  own: { tools: words("bash edit find grep ls read write"), agentTypes: [] },
  environment: ["PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"],
  // Seen with 1.6.0. Of its own helpers, the extension's variables tell the call
  inCommands: { session: ["PI_SESSION_ID"], call: "OPENHOOK_OTEL_PI_CALL", inOwnHooks: true },
  toContent,
  toFileWrites,
  toEntries,
  sessionFolders: ["sessions"],
  sessionsBelow: [".pi"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
