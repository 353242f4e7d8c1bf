import { isLostCall } from "../model/lost-calls.ts";
import { isCoveredBy } from "../model/removed-calls.ts";
import type { EntryOf } from "../model/transcript.ts";
import type { Database } from "../store/database.ts";
import { spanIdOf } from "../telemetry/ids.ts";
import { plural } from "../text/figures.ts";
import { type CallFact, type Difference, KIND_NAME, KINDS, type Sums, sumOf } from "./facts.ts";
import { type StoredSessionFacts, whyNotCounted } from "./stored-session.ts";
import type { TranscriptFacts } from "./transcripts.ts";

/** The result of comparing a session's transcripts with the store. */
export interface CallsResult {
  readonly differences: readonly Difference[];
  /** Calls of this session in its transcripts; absent if they cannot be read. */
  readonly reported: Sums | undefined;
  readonly stored: Sums;
  readonly calls: { readonly reported: number | undefined; readonly stored: number };
  /** Neither agreement nor difference, one line each. */
  readonly unknown: readonly string[];
  readonly remarks: readonly string[];
}

/**
 * Compares a session's transcripts with the store's counts, call by call and token by token.
 *
 * @param db used to find out why this session does not count a call
 * @param counted where each globally unique record was counted; this session's are added
 */
export function compareCalls(
  db: Database,
  facts: StoredSessionFacts,
  transcript: TranscriptFacts,
  canHooksReport: boolean,
  counted: Map<string, string>,
): CallsResult {
  const { session, calls } = facts;
  const label = `${session.source}/${session.sessionId}`;
  const stored = sumOf(calls.values());
  if (transcript.state === "unknown") {
    return {
      differences: [],
      reported: undefined,
      stored,
      calls: { reported: undefined, stored: calls.size },
      unknown: [`${label}: ${transcript.reason}`],
      remarks: [],
    };
  }
  const differences: Difference[] = [];
  const unknown: string[] = [];
  const remarks: string[] = [];
  const uncounted = { copy: 0, pruned: 0, pending: 0, unread: 0 };
  const mine: EntryOf<"model_call">[] = [];
  const differ = (key: string, call: CallFact, what: string, a: number | null, b: number | null): void => {
    differences.push({ between: BETWEEN, session: label, subject: nameOf(key, call), what, left: a, right: b });
  };
  const inOrder = [...transcript.calls.values()].sort((a, b) => a.timeMs - b.timeMs);
  for (const entry of inOrder) {
    const own = calls.get(entry.key);
    if (own === undefined) {
      const why = whyNotCounted(db, session, entry) ?? (facts.isOpen ? "unread" : undefined);
      if (why !== undefined) {
        uncounted[why]++;
        continue;
      }
      mine.push(entry);
      differ(
        entry.key,
        callFact(entry),
        "is in the transcript but not in the store",
        entry.usage?.output ?? null,
        null,
      );
      continue;
    }
    mine.push(entry);
    if (entry.globalKey !== undefined) {
      const other = counted.get(`${session.source}\0${entry.globalKey}`);
      if (other !== undefined) differ(entry.key, own, `was also counted in ${other}`, 1, 2);
      counted.set(`${session.source}\0${entry.globalKey}`, label);
    }
    for (const kind of KINDS) {
      const [a, b] = [entry.usage?.[kind] ?? null, own.usage?.[kind] ?? null];
      if (a !== b) differ(entry.key, own, `${KIND_NAME[kind]} tokens`, a, b);
    }
    if (entry.model !== own.model) {
      differ(entry.key, own, `the model is ${entry.model ?? "unknown"} in the transcript`, null, null);
    }
  }
  // A call that was lost in a kill is derived from its tools; no transcript has it
  const missing = [...calls.values()].filter(({ key }) => !transcript.calls.has(key) && !isLostCall(key));
  const onlyStored = missing.filter((call) => !transcript.removed.some((sum) => isCoveredBy(call, sum)));
  if (missing.length > onlyStored.length) {
    remarks.push(`${label}: ${callsWere(missing.length - onlyStored.length)} removed from the transcript by the agent`);
  }
  const isWhole = onlyStored.length === 0 || (transcript.missingParts === 0 && !canHooksReport);
  if (!isWhole) {
    const why = transcript.missingParts > 0 ? "parts of its transcript are gone" : "only hooks reported them";
    unknown.push(`${label}: ${onlyStored.length} of ${calls.size} model calls cannot be checked: ${why}`);
  } else {
    for (const call of onlyStored) {
      differ(call.key, call, "is in the store but no longer in the transcript", null, call.usage?.output ?? null);
    }
  }
  if (uncounted.copy > 0)
    remarks.push(`${label}: ${callsWere(uncounted.copy)} copied from another session and counted there`);
  if (uncounted.pruned > 0)
    unknown.push(`${label}: ${callsWere(uncounted.pruned)} pruned from the store; the sums still include them`);
  if (uncounted.pending > 0) remarks.push(`${label}: ${callsWere(uncounted.pending)} in a turn that has not ended`);
  if (uncounted.unread > 0)
    remarks.push(`${label}: still open, ${callsWere(uncounted.unread)} written since the last drain`);
  if (transcript.unreadable > 0) {
    remarks.push(`${label}: ${plural(transcript.unreadable, "line")} of its transcript cannot be read`);
  }
  // Calls that only hooks reported are in no transcript: compare sums over the same calls
  const comparable = isWhole ? sumOf(mine) : undefined;
  return {
    differences,
    reported: comparable,
    stored,
    calls: { reported: comparable === undefined ? undefined : mine.length, stored: calls.size },
    unknown,
    remarks,
  };
}

/** Compares the store's model calls with their spans: each has one, with the same tokens. */
export function compareWithSpans({ session, calls, spans }: StoredSessionFacts): {
  readonly differences: readonly Difference[];
  readonly remarks: readonly string[];
} {
  const label = `${session.source}/${session.sessionId}`;
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const differences: Difference[] = [];
  let fuller = 0;
  for (const call of calls.values()) {
    if (call.covers !== undefined) continue;
    const span = byId.get(spanIdOf(session, "model_call", call.key));
    const subject = nameOf(call.key, call);
    if (span === undefined) {
      const what = "was counted but has no span";
      differences.push({ between: "store and its spans", session: label, subject, what, left: 1, right: null });
      continue;
    }
    const inSpan = span.figures["gen_ai.usage.output_tokens"];
    if (inSpan !== call.usage?.output) fuller++;
  }
  const remarks =
    fuller === 0
      ? []
      : [
          `${label}: usage of ${plural(fuller, "model call")} was completed after the spans were built; the metrics include the rest`,
        ];
  return { differences, remarks };
}

/** The name of a call in a difference. */
export const nameOf = (key: string, { model, endMs }: Pick<CallFact, "model" | "endMs">): string =>
  `model call ${key} (${model ?? "unknown model"}, ${new Date(endMs).toISOString()})`;

// --- internal ---

const BETWEEN = "transcript and store";

const callsWere = (n: number): string => `${n} model ${n === 1 ? "call was" : "calls were"}`;

const callFact = ({ key, agentId, model, usage, covers, startMs, timeMs, endMs }: EntryOf<"model_call">): CallFact => ({
  key,
  agentId,
  model,
  usage,
  covers,
  startMs: startMs ?? timeMs,
  endMs,
});
