import type { Attributes, SpanRecord } from "#core/model/telemetry.ts";
import { cardOf } from "#core/rules/cards.ts";
import { isOwnAgentType, reduceOrigin, reduceToolName } from "#core/rules/names.ts";
import { attributesAtLevel, recordAtLevel } from "#core/telemetry/level.ts";
import { VCS_REPOSITORY_NAME } from "#core/telemetry/semconv.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { mergeStreams } from "../merge-streams.ts";
import { rewritePacked } from "../packed-rows.ts";
import { rewriteFacts, rewriteSpans, spanRecordsOf } from "../session-names.ts";
import type { StoredSession } from "../sessions.ts";
import type { CaptureContext } from "./context.ts";
import { ownNamesOf } from "./level.ts";
import { stripEntryNames, stripEventNames } from "./strip-names.ts";

/**
 * Removes names of a session from the counters: a stream with one of them is merged into the stream without names. What was
 * counted stays in the sums; what was already sent does not change. Counts of other sessions in the same streams lose these
 * names too. Call it inside a transaction, before the session's spans are deleted or stripped.
 */
export function forgetNamesOfStreams(drain: CaptureContext, session: StoredSession): void {
  const used = namesUsed(drain, session);
  if (used.size === 0) return;
  mergeStreams(drain.db, METRIC_SHAPES, drain.now(), ({ attributes, resource }) => {
    const bare = attributesAtLevel(attributes, resource, "none", ownNamesOf(drain));
    return removedPairs(attributes, bare).some((pair) => used.has(pair)) ? bare : attributes;
  });
}

/**
 * Removes names from what is stored of a session: its spans, sent or not, its facts, packed or not, its repository,
 * branch and CI job. Call it inside a transaction.
 *
 * @returns whether there were any
 */
export function forgetNamesOfSession(drain: CaptureContext, session: StoredSession): boolean {
  const { db } = drain;
  const own = cardOf(drain, session.source)?.own;
  const hadSpans = rewriteSpans(db, session.id, (record) => recordAtLevel(record, "none", ownNamesOf(drain)));
  const hadFacts = rewriteFacts(db, session.id, {
    event: (event) => stripEventNames(event, own),
    entry: (entry) => stripEntryNames(entry, own),
    toolCall: ({ executable: _, subcommand: __, files: ___, mcpServer, ...call }) => ({
      ...call,
      name: reduceToolName(call.name, mcpServer, own),
      ...(mcpServer !== undefined && { mcpServer: "mcp" }),
    }),
    agentType: (type) => (isOwnAgentType(type, own) ? type : undefined),
    origin: (origin) => reduceOrigin(origin),
  });
  const wasPacked = rewritePacked(db, session.id, {
    entry: (entry) => stripEntryNames(entry, own),
    tool: (before, mcpServer) => {
      const name = reduceToolName(before, mcpServer, own);
      return { name, mcpServer: name === "mcp" ? "mcp" : undefined };
    },
  });
  return hadSpans || hadFacts || wasPacked;
}

// --- internal ---

const pairOf = (name: string, value: unknown): string => `${name}=${String(value)}`;

const removedPairs = (before: Attributes, after: Attributes): readonly string[] =>
  Object.entries(before).flatMap(([name, value]) => (after[name] === value ? [] : [pairOf(name, value)]));

/** Attributes of the session's spans that may not be sent at `none`. */
function namesUsed(drain: CaptureContext, { id, repository }: StoredSession): ReadonlySet<string> {
  const used = new Set(repository === undefined ? [] : [pairOf(VCS_REPOSITORY_NAME, repository.name)]);
  for (const record of spanRecordsOf(drain.db, id)) {
    const bare: SpanRecord = recordAtLevel(record, "none", ownNamesOf(drain));
    for (const pair of removedPairs(record.attributes, bare.attributes)) used.add(pair);
  }
  return used;
}
