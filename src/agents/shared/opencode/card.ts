import type { Agent } from "#core/model/agent.ts";
import { adapterOf } from "./adapter.ts";
import { toContent } from "./content.ts";
import { toFileWrites } from "./file-writes.ts";
import { KNOWN } from "./known.ts";
import type { Variant } from "./variant.ts";

/** What differs between the cards of variants. */
type Own = Required<Pick<Agent, "docs" | "own" | "transcript" | "installer">> & { readonly versions: string };

/** The card of OpenCode or of a program that is built from its code. */
export const variantCard = (variant: Variant, { versions, ...own }: Own) =>
  ({
    ...own,
    source: variant.source,
    title: variant.title,
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
      versions,
      subagents: true,
      sessionIds: "native",
      callIds: "native",
      eventIds: "payload",
    },
    known: KNOWN,
    sessionsBelow: [`.local/share/${variant.source}`],
    environment: ["XDG_DATA_HOME", variant.databaseVariable],
    unreadFormats: async (query) => (await import("./transcript.ts")).unreadFormats(variant, query),
    ...adapterOf(variant),
    toContent,
    toFileWrites,
  }) satisfies Agent;
