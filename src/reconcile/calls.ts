import type { EntryOf } from "../model/transcript.ts";
import type { Database } from "../store/database.ts";
import { spanIdOf } from "../telemetry/ids.ts";
import { plural } from "../text/figures.ts";
import { type CallFact, type Difference, KIND_NAME, KINDS, type Sums, sumOf } from "./facts.ts";
import { type StoredBook, whyNotCounted } from "./stored.ts";
import type { TranscriptBook } from "./transcripts.ts";

/** The result of comparing a session's transcripts with the store. */
export interface CallsCompared {
  readonly differences: readonly Difference[];
  /** Calls of this session in its transcripts; absent if they cannot be read. */
  readonly told: Sums | undefined;
  readonly stored: Sums;
  readonly calls: { readonly told: number | undefined; readonly stored: number };
  /** Neither agreement nor difference, one line each. */
  readonly unknown: readonly string[];
  readonly remarks: readonly string[];
}

/**
 * Compares a session's transcripts with the store's counts, call by call and token by token.
 *
 * @param db to find out why a call is not counted here
 * @param counted where each globally unique record was counted; this session's are added
 */
export function compareCalls(
  db: Database,
  book: StoredBook,
  transcript: TranscriptBook,
  mayHooksTell: boolean,
  counted: Map<string, string>,
): CallsCompared {
  const { session, calls } = book;
  const label = `${session.source}/${session.sessionId}`;
  const stored = sumOf(calls.values());
  if (transcript.state === "unknown") {
    return {
      differences: [],
      told: undefined,
      stored,
      calls: { told: undefined, stored: calls.size },
      unknown: [`${label}: ${transcript.reason}`],
      remarks: [],
    };
  }
  const differences: Difference[] = [];
  const unknown: string[] = [];
  const remarks: string[] = [];
  const left = { copy: 0, pruned: 0, pending: 0, unread: 0 };
  const mine: EntryOf<"model_call">[] = [];
  const differ = (key: string, call: CallFact, what: string, a: number | null, b: number | null): void => {
    differences.push({ between: BETWEEN, session: label, subject: nameOf(key, call), what, left: a, right: b });
  };
  const inOrder = [...transcript.calls.values()].sort((a, b) => a.timeMs - b.timeMs);
  for (const told of inOrder) {
    const own = calls.get(told.key);
    if (own === undefined) {
      const why = whyNotCounted(db, session, told) ?? (book.isOpen ? "unread" : undefined);
      if (why !== undefined) {
        left[why]++;
        continue;
      }
      mine.push(told);
      differ(told.key, factOf(told), "is in the transcript and not in the store", told.usage?.output ?? null, null);
      continue;
    }
    mine.push(told);
    if (told.globalKey !== undefined) {
      const other = counted.get(`${session.source}\0${told.globalKey}`);
      if (other !== undefined) differ(told.key, own, `was counted in ${other} as well`, 1, 2);
      counted.set(`${session.source}\0${told.globalKey}`, label);
    }
    for (const kind of KINDS) {
      const [a, b] = [told.usage?.[kind] ?? null, own.usage?.[kind] ?? null];
      if (a !== b) differ(told.key, own, `${KIND_NAME[kind]} tokens`, a, b);
    }
    if (told.model !== own.model) {
      differ(told.key, own, `the model is ${told.model ?? "not named"} in the transcript`, null, null);
    }
  }
  const more = [...calls.values()].filter(({ key }) => !transcript.calls.has(key));
  const isWhole = more.length === 0 || (transcript.missingParts === 0 && !mayHooksTell);
  if (!isWhole) {
    const why = transcript.missingParts > 0 ? "parts of its transcript are gone" : "hooks alone told them";
    unknown.push(`${label}: ${more.length} of ${calls.size} model calls cannot be looked up: ${why}`);
  } else {
    for (const call of more) {
      differ(call.key, call, "is in the store and no more in the transcript", null, call.usage?.output ?? null);
    }
  }
  if (left.copy > 0) remarks.push(`${label}: ${callsWere(left.copy)} copied from another session, and counted there`);
  if (left.pruned > 0) unknown.push(`${label}: ${callsWere(left.pruned)} pruned from the store; they are in the sums`);
  if (left.pending > 0) remarks.push(`${label}: ${callsWere(left.pending)} of a turn that has not ended`);
  if (left.unread > 0) remarks.push(`${label}: still open, ${callsWere(left.unread)} written since the last drain`);
  if (transcript.unreadable > 0) {
    remarks.push(`${label}: ${plural(transcript.unreadable, "line")} of its transcript cannot be read`);
  }
  // Calls that only hooks reported are in no transcript: compare sums over the same calls
  const comparable = isWhole ? sumOf(mine) : undefined;
  return {
    differences,
    told: comparable,
    stored,
    calls: { told: comparable === undefined ? undefined : mine.length, stored: calls.size },
    unknown,
    remarks,
  };
}

/** Compares the store's model calls with their spans: each has one, with the same tokens. */
export function compareWithSpans({ session, calls, spans }: StoredBook): {
  readonly differences: readonly Difference[];
  readonly remarks: readonly string[];
} {
  const label = `${session.source}/${session.sessionId}`;
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const differences: Difference[] = [];
  let fuller = 0;
  for (const call of calls.values()) {
    if (call.covers !== undefined) continue;
    const span = byId.get(spanIdOf(session.source, session.sessionId, "model_call", call.key));
    const subject = nameOf(call.key, call);
    if (span === undefined) {
      const what = "was counted, and no span was made for it";
      differences.push({ between: "store and its spans", session: label, subject, what, left: 1, right: null });
      continue;
    }
    const inSpan = span.figures["gen_ai.usage.output_tokens"];
    if (inSpan !== call.usage?.output) fuller++;
  }
  const remarks =
    fuller === 0
      ? []
      : [`${label}: ${callsWere(fuller)} told more fully after their spans were made; the metrics have the rest`];
  return { differences, remarks };
}

/** The name of a call in a difference. */
export const nameOf = (key: string, { model, endMs }: Pick<CallFact, "model" | "endMs">): string =>
  `model call ${key} (${model ?? "model not named"}, ${new Date(endMs).toISOString()})`;

// --- internal ---

const BETWEEN = "transcript and store";

const callsWere = (n: number): string => `${n} model ${n === 1 ? "call was" : "calls were"}`;

const factOf = ({ key, model, usage, covers, endMs }: EntryOf<"model_call">): CallFact => ({
  key,
  model,
  usage,
  covers,
  endMs,
});
