import type { Agent } from "#core/model/agent.ts";
import { variantAdapter } from "./adapter.ts";
import { toContent } from "./content.ts";
import { toFileWrites } from "./file-writes.ts";
import type { Variant } from "./variant.ts";

/** What differs between the cards of variants. */
type Own = Required<Pick<Agent, "docs" | "own" | "transcript" | "installer">> & { readonly versions: string };

/** The card of OpenCode or of a program that is built from its code. */
export function variantCard(variant: Variant, { versions, ...own }: Own) {
  const adapter = variantAdapter(variant);
  return {
    ...own,
    ...adapter,
    title: variant.title,
    emits: ["file.write", ...adapter.emits],
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
    sessionsBelow: [`.local/share/${variant.source}`],
    environment: ["XDG_DATA_HOME", variant.databaseVariable],
    unreadFormats: async (query) => (await import("./transcript.ts")).unreadFormats(variant, query),
    toContent,
    toFileWrites,
  } satisfies Agent;
}
