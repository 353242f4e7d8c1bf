import type { EntryOf } from "#core/model/transcript.ts";
import { isCoveredBy, isLostCall } from "#core/rules/calls.ts";
import { spanIdOf } from "#core/telemetry/ids.ts";
import { plural } from "#kit/text/figures.ts";
import type { Database } from "#store/database.ts";
import {
  AllFindings,
  type CallFact,
  type Difference,
  type Findings,
  KIND_NAME,
  KINDS,
  labelOf,
  type Sums,
  sumOf,
} from "./facts.ts";
import { type StoredSessionFacts, whyNotCounted } from "./stored.ts";
import type { TranscriptFacts } from "./transcripts.ts";
import type { UnexplainedUsage } from "./witness.ts";

/** The result of comparing a session's transcripts with the store. */
interface CallsResult extends Findings {
  /** Calls of this session in its transcripts; absent if they cannot be read. */
  readonly reported: Sums | undefined;
  readonly stored: Sums;
  readonly calls: { readonly reported: number | undefined; readonly stored: number };
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
  const label = labelOf(facts.session);
  const stored = sumOf(facts.calls.values());
  const findings = new AllFindings();
  if (transcript.state === "unknown") {
    findings.add({ unknown: [`${label}: ${transcript.reason}`] });
    return { ...findings, reported: undefined, stored, calls: { reported: undefined, stored: facts.calls.size } };
  }
  const { own, uncounted } = sortReported(db, facts, transcript);
  for (const entry of own) findings.add({ differences: differencesOf(entry, facts, counted) });
  const { isWhole, ...onlyStored } = compareOnlyStored(facts, transcript, canHooksReport);
  findings.add(onlyStored);
  findings.add(whyUncounted(label, uncounted));
  findings.add({ differences: transcript.unexplained.map((usage) => uncountedUsage(label, usage)) });
  if (transcript.unreadable > 0) {
    findings.add({ remarks: [`${label}: ${plural(transcript.unreadable, "line")} of its transcript cannot be read`] });
  }
  for (const [kind, count] of transcript.unreadUsage) {
    const records = `${plural(count, "record")} ${JSON.stringify(kind)}`;
    findings.add({ remarks: [`${label}: token usage in ${records} cannot be read: totals are lower bounds`] });
  }
  // Calls that only hooks reported are in no transcript: compare sums over the same calls
  return {
    ...findings,
    reported: isWhole ? sumOf(own) : undefined,
    stored,
    calls: { reported: isWhole ? own.length : undefined, stored: facts.calls.size },
  };
}

/** Compares the store's model calls with their spans: each has one, with the same tokens. */
export function compareWithSpans({ session, calls, spans }: StoredSessionFacts): Omit<Findings, "unknown"> {
  const label = labelOf(session);
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

// --- internal ---

/** The name of a call in a difference. */
const nameOf = (key: string, { model, endMs }: Pick<CallFact, "model" | "endMs">): string =>
  `model call ${key} (${model ?? "unknown model"}, ${new Date(endMs).toISOString()})`;

const BETWEEN = "transcript and store";

type ReadTranscript = Extract<TranscriptFacts, { readonly state: "read" }>;
type Reported = EntryOf<"model_call">;

/** How many calls of the transcript the session does not count, by the reason. */
type Uncounted = Record<"copy" | "pruned" | "pending" | "unread", number>;

/** The calls of the transcript that this session counts or should count, the earliest first, and the number of all others. */
function sortReported(
  db: Database,
  { session, calls, isOpen }: StoredSessionFacts,
  transcript: ReadTranscript,
): { readonly own: readonly Reported[]; readonly uncounted: Readonly<Uncounted> } {
  const uncounted: Uncounted = { copy: 0, pruned: 0, pending: 0, unread: 0 };
  const own: Reported[] = [];
  for (const entry of [...transcript.calls.values()].sort((a, b) => a.timeMs - b.timeMs)) {
    // It only stands for calls that nothing reported
    if (isLostCall(entry.key) && !calls.has(entry.key)) continue;
    const why = calls.has(entry.key)
      ? undefined
      : (whyNotCounted(db, session, entry) ?? (isOpen ? "unread" : undefined));
    if (why === undefined) own.push(entry);
    else uncounted[why]++;
  }
  return { own, uncounted };
}

/** What differs between a call in the transcript and the same call in the store. Adds the call to `counted`. */
function differencesOf(
  entry: Reported,
  { session, calls }: StoredSessionFacts,
  counted: Map<string, string>,
): readonly Difference[] {
  const label = labelOf(session);
  const stored = calls.get(entry.key);
  if (stored === undefined) {
    const what = "is in the transcript but not in the store";
    return [difference(label, callFact(entry), what, entry.usage?.output ?? null, null)];
  }
  const differences: Difference[] = [];
  const differ = (what: string, left: number | null, right: number | null): void => {
    differences.push(difference(label, stored, what, left, right));
  };
  if (entry.globalKey !== undefined) {
    const record = `${session.source}\0${entry.globalKey}`;
    const other = counted.get(record);
    if (other !== undefined) differ(`was also counted in ${other}`, 1, 2);
    counted.set(record, label);
  }
  for (const kind of KINDS) {
    const [left, right] = [entry.usage?.[kind] ?? null, stored.usage?.[kind] ?? null];
    if (left !== right) differ(`${KIND_NAME[kind]} tokens`, left, right);
  }
  if (entry.model !== stored.model) differ(`the model is ${entry.model ?? "unknown"} in the transcript`, null, null);
  return differences;
}

/**
 * Looks for the calls of the store that the transcript does not have.
 *
 * @returns `isWhole`: the transcript should have all calls of the session, so that sums can be compared
 */
function compareOnlyStored(
  { session, calls }: StoredSessionFacts,
  transcript: ReadTranscript,
  canHooksReport: boolean,
): Findings & { readonly isWhole: boolean } {
  const label = labelOf(session);
  // A call that was lost in a kill is derived from its tools; no transcript has it
  const missing = [...calls.values()].filter(({ key }) => !transcript.calls.has(key) && !isLostCall(key));
  const onlyStored = missing.filter((call) => !transcript.removed.some((sum) => isCoveredBy(call, sum)));
  const removed = missing.length - onlyStored.length;
  const remarks = removed > 0 ? [`${label}: ${callsWere(removed)} removed from the transcript by the agent`] : [];
  if (onlyStored.length > 0 && (transcript.missingParts > 0 || canHooksReport)) {
    const why = transcript.missingParts > 0 ? "parts of its transcript are gone" : "only hooks reported them";
    const unknown = [`${label}: ${onlyStored.length} of ${calls.size} model calls cannot be checked: ${why}`];
    return { differences: [], unknown, remarks, isWhole: false };
  }
  const what = "is in the store but no longer in the transcript";
  const differences = onlyStored.map((call) => difference(label, call, what, null, call.usage?.output ?? null));
  return { differences, unknown: [], remarks, isWhole: true };
}

function whyUncounted(label: string, { copy, pruned, pending, unread }: Readonly<Uncounted>): Partial<Findings> {
  const line = (count: number, text: string): readonly string[] => (count > 0 ? [`${label}: ${text}`] : []);
  return {
    unknown: line(pruned, `${callsWere(pruned)} pruned from the store; the sums still include them`),
    remarks: [
      ...line(copy, `${callsWere(copy)} copied from another session and counted there`),
      ...line(pending, `${callsWere(pending)} in a turn that has not ended`),
      ...line(unread, `still open, ${callsWere(unread)} written since the last drain`),
    ],
  };
}

/** Found without the agent's reader, which may not know a kind of record. */
const uncountedUsage = (session: string, { place, records, output }: UnexplainedUsage): Difference => ({
  between: BETWEEN,
  session,
  subject: `usage in records ${place}`,
  what: `output tokens of ${plural(records, "record")} are in no call: update openhook-otel`,
  left: output,
  right: null,
});

const difference = (
  session: string,
  call: CallFact,
  what: string,
  left: number | null,
  right: number | null,
): Difference => ({ between: BETWEEN, session, subject: nameOf(call.key, call), what, left, right });

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
