import type { OwnNames } from "#core/model/agent.ts";
import type { Event, Extras } from "#core/model/event-schema.ts";
import type { Attributes, SpanRecord } from "#core/model/telemetry.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { cardOf } from "#core/rules/cards.ts";
import { NO_NAME } from "#core/rules/change-facts.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { isOwnAgentType, reduceOrigin, reduceToolName } from "#core/rules/names.ts";
import { attributesAtLevel, recordAtLevel } from "#core/telemetry/level.ts";
import { VCS_REPOSITORY_NAME } from "#core/telemetry/semconv.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { mergeStreams } from "../merge-streams.ts";
import { forgetNativeNames } from "../native.ts";
import { rewritePacked } from "../packed-rows.ts";
import { rewriteFacts, rewriteSpans, spanRecordsOf } from "../session-names.ts";
import type { StoredSession } from "../sessions.ts";
import type { CaptureContext } from "./context.ts";
import { ownNamesOf } from "./level.ts";

// Removes names from facts at `capture: none`; ids, figures and statuses stay. Which field is removed, and why:
// docs/decisions/0015

/**
 * An event without user-defined names. Its id, and the ids that connect it with other events, do not change.
 *
 * @returns `undefined` for `file.write`, which means nothing without the file's name
 */
export function stripEventNames<T extends Event>(event: T, own: OwnNames | undefined): T | undefined;
export function stripEventNames(event: Event, own: OwnNames | undefined): Event | undefined {
  if (event.type === "file.write") return undefined;
  const { cwd: _, ...rest } = event;
  if ("context" in rest) delete rest.context;
  const extras = extrasOf(event);
  const extensions = Object.fromEntries(
    Object.entries({ ...keptExtras(extras), ...reducedExtras(extras, own) }).filter(([, value]) => value !== undefined),
  );
  const stripped = { ...rest, ...(event.extensions !== undefined && { extensions }) } as Event;
  if ((stripped.type !== "tool.start" && stripped.type !== "tool.end") || stripped.data?.tool_name === undefined)
    return stripped;
  const tool_name = reduceToolName(stripped.data.tool_name, extras.mcp_server, own);
  return { ...stripped, data: { ...stripped.data, tool_name } } as Event;
}

/** `stripEventNames` for an entry of a transcript. */
export function stripEntryNames(entry: TranscriptEntry, own: OwnNames | undefined): TranscriptEntry {
  switch (entry.kind) {
    case "session": {
      const { cwd: _, gitBranch: __, ...rest } = entry;
      return rest;
    }
    case "tool_use": {
      const { executable: _, skill: __, files: ___, mcpServer, ...rest } = entry;
      const name = reduceToolName(entry.name, mcpServer, own);
      return { ...rest, name, ...(name === "mcp" && { mcpServer: "mcp" }) };
    }
    case "tool_result": {
      const { files: _, ...rest } = entry;
      return rest;
    }
    case "subagent": {
      const { agentType, ...rest } = entry;
      return isOwnAgentType(agentType, own) ? { ...rest, agentType } : rest;
    }
    case "commit": {
      const { branch: _, ...rest } = entry;
      return rest;
    }
    case "change": {
      // The number of a pull request is an id; names of branches and tickets are not
      const { branch: _, url: __, ...rest } = entry;
      return rest.changeKind === "branch" || rest.changeKind === "ticket" ? { ...rest, change: NO_NAME } : rest;
    }
    case "compaction": {
      const { trigger: _, ...rest } = entry;
      return rest;
    }
    default:
      return entry;
  }
}

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
    toolCall: ({ executable: _, subcommand: __, skill: ___, files: ____, mcpServer, ...call }) => ({
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
  const hadNative = forgetNativeNames(db, session);
  return hadSpans || hadFacts || wasPacked || hadNative;
}

// --- internal ---

/** Ids, figures and statuses. The transcript's path stays in the store, because the figures come from there. */
const KEPT = [
  "native_event",
  "prompt_id",
  "prompt_origin",
  "agent_id",
  "agent_version",
  "transcript_path",
  "continues",
  "session_id_origin",
  "denied",
  "status_origin",
  "exit_code",
  "error_type",
  "tool_call_ids",
  "lines_added",
  "lines_removed",
  "made_commits",
  "spawned_agent_id",
  "input_digest",
  "given_id",
  "in_transcript",
  "reported_late",
  "parent_session_id",
  "http_status",
  "background_count",
  "process",
  "payload_bytes",
  "truncated",
] as const satisfies readonly (keyof Extras)[];

const keptExtras = (extras: Extras): Partial<Extras> => Object.fromEntries(KEPT.map((name) => [name, extras[name]]));

/** Names that this program uses. Those that are not built into the agent are left out or replaced by a category. */
const reducedExtras = (
  extras: Extras,
  own: OwnNames | undefined,
): { readonly [K in keyof Extras]?: Extras[K] | undefined } => ({
  start_origin: reduceOrigin(extras.start_origin),
  agent_type: isOwnAgentType(extras.agent_type, own) ? extras.agent_type : undefined,
  // Kept as a fact: failed calls of MCP tools have another error type
  mcp_server: extras.mcp_server === undefined ? undefined : "mcp",
});

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
