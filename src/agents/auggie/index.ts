import type { Agent } from "#core/model/agent.ts";
import { hookContent } from "../shared/payload/content.ts";
import { adapter, toEntries } from "./adapter.ts";
import { toFileWrites } from "./file-writes.ts";
import { AUGGIE_NAMES } from "./own-names.ts";

export default {
  ...adapter,
  title: "Auggie",
  otherNames: ["augment"],
  docs: "https://docs.augmentcode.com/cli/hooks",
  emits: ["file.write", ...adapter.emits],
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
  environment: ["AUGMENT_CONVERSATION_ID"],
  toContent: hookContent,
  toFileWrites,
  toEntries,
  sessionFolders: ["sessions"],
  sessionsBelow: [".augment"],
  transcript: () => import("./transcript.ts"),
  installer: () => import("./installer.ts"),
} satisfies Agent;
