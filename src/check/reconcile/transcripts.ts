import { filesOfSession, positionKeyOf } from "#collect/transcripts/session-files.ts";
import { rootsOf } from "#collect/transcripts/transcript-roots.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { isSingleCall, withoutKnownCalls } from "#core/rules/calls.ts";
import { knownCardOf, transcriptOf } from "#core/rules/cards.ts";
import { withoutDuplicateAnswers } from "#core/rules/duplicate-answers.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { messageOf } from "#kit/errors.ts";
import { refusalOf } from "#kit/open.ts";
import type { CaptureContext } from "#store/capture/context.ts";
import { limitEntries } from "#store/capture/limit-fields.ts";
import { protectEntries } from "#store/capture/protect.ts";
import type { Database } from "#store/database.ts";
import type { StoredSession } from "#store/sessions.ts";
import type { StoredSessionFacts } from "./stored.ts";
import { type UnexplainedUsage, unexplainedUsage } from "./witness.ts";

/** The model calls in a session's transcripts, read from the first line; or why they are unknown. */
export type TranscriptFacts =
  | {
      readonly state: "read";
      readonly calls: ReadonlyMap<string, EntryOf<"model_call">>;
      /** Sums over calls that the agent removed, as in the transcripts. */
      readonly removed: readonly EntryOf<"model_call">[];
      /** Parts that were read before and no longer exist. */
      readonly missingParts: number;
      /** Lines that could not be read. */
      readonly unreadable: number;
      /** Kinds of records with token usage that the reader does not know, with their number. */
      readonly unreadUsage: ReadonlyMap<string, number>;
      /** Usage in the files that is in no call. */
      readonly unexplained: readonly UnexplainedUsage[];
    }
  | { readonly state: "unknown"; readonly reason: string };

/** What collector transcripts needs from a drain, without an open store. */
export type TranscriptContext = Omit<CaptureContext, "db">;
export type StoreQuery = <T>(ask: (db: Database) => T) => T | undefined;

/**
 * Reads a session's transcripts again from the first line with its agent's reader. From the store it only uses their paths, and what a
 * hook reported about the start of a fork.
 */
export async function rereadTranscripts(
  drain: TranscriptContext,
  facts: StoredSessionFacts,
  queryStore: StoreQuery,
): Promise<TranscriptFacts> {
  const { session, children, parts } = facts;
  const card = knownCardOf(drain, session.source);
  if (card?.tokens === "none") return unknown(`${card.title} does not report tokens`);
  if (card?.tokens === "payload") return unknown(`${card.title} reports tokens only in hook payloads`);
  const load = transcriptOf(drain, session.source);
  if (load === undefined) return unknown(`${card?.title ?? session.source} writes no readable transcript`);
  const { default: reader } = await load();
  const roots = queryStore((db) => rootsOf({ ...drain, db }, reader, session.source)) ?? [];
  const found = await filesOf(drain, reader, [session, ...children], roots);
  if (typeof found === "string") return unknown(found);
  const files = [...found.values()];
  const missingParts = [...parts].filter((part) => !found.has(part)).length;
  if (files.length === 0) return unknown(whyMissing(facts));
  const collector = new CallCollector(facts);
  for (const file of files) {
    const refusal = await refusalOf(file.path, roots);
    if (refusal !== undefined) return unknown(`its transcript must not be read: ${refusal}`);
    try {
      for await (const batch of reader.read({ ...file, roots }, INITIAL_OFFSET, { content: false })) {
        collector.take({ ...batch, entries: protectEntries(drain, limitEntries(batch.entries), session.cwd) });
      }
    } catch (error) {
      return unknown(`could not read ${JSON.stringify(file.path)}: ${messageOf(error)}`);
    }
  }
  const { removed, unreadable, unreadUsage } = collector;
  const checked = files.map((file) => ({ ...file, roots }));
  // A file that changed or vanished since was read above
  const unexplained = await unexplainedUsage(checked, collector.all(), session.source).catch(() => []);
  return { state: "read", calls: collector.calls(), removed, missingParts, unreadable, unreadUsage, unexplained };
}

// --- internal ---

const unknown = (reason: string): TranscriptFacts => ({ state: "unknown", reason });

const whyMissing = ({ session, parts }: StoredSessionFacts): string =>
  parts.size > 0
    ? `its transcript is gone: ${JSON.stringify(session.transcriptPath ?? [...parts][0])}`
    : "its transcript was never found";

/** Files by the reader's part names; a reason if they cannot be determined. */
async function filesOf(
  drain: TranscriptContext,
  reader: TranscriptReader,
  sessions: readonly StoredSession[],
  roots: readonly string[],
): Promise<ReadonlyMap<string, TranscriptFile> | string> {
  const found = new Map<string, TranscriptFile>();
  for (const session of sessions) {
    const { transcriptPath } = session;
    const isReadable = transcriptPath !== undefined && (await refusalOf(transcriptPath, roots)) === undefined;
    const query = { home: drain.places.home, roots, ...(isReadable && { path: transcriptPath }) };
    try {
      for (const file of await filesOfSession(reader, session, query)) {
        const key = positionKeyOf(file);
        if (!found.has(key)) found.set(key, file);
      }
    } catch (error) {
      return `could not find its transcripts: ${messageOf(error)}`;
    }
  }
  return found;
}

/** Merges records of one call, and leaves out what a fork copied. */
class CallCollector {
  readonly #facts: StoredSessionFacts;
  readonly #calls = new Map<string, EntryOf<"model_call">>();
  readonly #everything = new Map<string, EntryOf<"model_call">>();
  #isOwnPart: boolean;
  unreadable = 0;
  readonly unreadUsage = new Map<string, number>();

  constructor(facts: StoredSessionFacts) {
    this.#facts = facts;
    this.#isOwnPart = facts.session.fork === "no";
  }

  take({ entries, unreadable, unreadUsage = new Map() }: TranscriptBatch): void {
    this.unreadable += unreadable;
    for (const [kind, count] of unreadUsage) this.unreadUsage.set(kind, (this.unreadUsage.get(kind) ?? 0) + count);
    const own = new Set(this.#own(entries));
    for (const entry of entries) {
      if (entry.kind !== "model_call") continue;
      for (const calls of own.has(entry) ? [this.#calls, this.#everything] : [this.#everything]) {
        const known = calls.get(entry.key);
        const merged = known === undefined ? entry : mergeEntries(known, entry);
        if (merged.kind === "model_call") calls.set(entry.key, merged);
      }
    }
  }

  /** By time, with those that a fork copied and those that count elsewhere. */
  all(): readonly EntryOf<"model_call">[] {
    return [...this.#everything.values()].sort((a, b) => a.timeMs - b.timeMs);
  }

  get removed(): readonly EntryOf<"model_call">[] {
    return [...this.#calls.values()].filter(({ covers }) => covers === "removed");
  }

  /** Session totals replace calls with unknown tokens; together with known calls they would count twice. */
  calls(): ReadonlyMap<string, EntryOf<"model_call">> {
    const own = new Set(
      withoutDuplicateAnswers([...this.#calls.values()], (key) => this.#facts.calls.has(key)).map(({ key }) => key),
    );
    const knowsCalls = [...this.#calls.values()].some(isSingleCall);
    const rest = withoutKnownCalls(
      [...this.#calls.values()].filter(({ key, covers }) => own.has(key) && (covers !== "session" || !knowsCalls)),
      [...this.#facts.calls.values()].filter(({ key }) => !this.#calls.has(key)),
    );
    return new Map(rest.flatMap((call) => (call.kind === "model_call" ? [[call.key, call] as const] : [])));
  }

  #own(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
    if (this.#isOwnPart || this.#facts.session.fork === "no") return entries;
    const first = entries.find(
      (entry) => entry.kind === "prompt" && this.#facts.hookPrompts.has(entry.promptKey ?? ""),
    );
    if (first === undefined) return [];
    this.#isOwnPart = true;
    return entries.slice(
      entries.findLastIndex((entry) => entry.kind === "prompt" && entry.promptKey === first.promptKey),
    );
  }
}
