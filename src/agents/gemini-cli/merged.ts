// Seen in 0.20.2 to 0.35.3 and read in the source of 0.20.2, 2026-11-22: chatRecordingService.ts, local-invocation.ts
import { defined } from "../../model/defined.ts";
import type { EntryOf, TranscriptEntry } from "../../model/transcript.ts";
import { asArray, asObject, asString, asTimeMs, parsedObject } from "../shared/payload/json.ts";
import { elementsOf } from "../shared/transcript/elements.ts";
import { textOf } from "./outcome.ts";
import { readMessage } from "./records.ts";
import { at, type ChatState, type Fields, type Here } from "./state.ts";
import { callEntries } from "./tools.ts";

/** A subagent without a file of its own. */
export interface Guest {
  readonly callId: string;
  /** When it was asked, where it wrote its task and answers between the lines of the agent that called it. */
  readonly taskMs: number | undefined;
  readonly untilMs: number;
}

/** The subagents that a file of one object tells of. Their calls stand behind what they wrote. */
export async function guestsIn(path: string, roots: readonly string[] | undefined): Promise<readonly Guest[]> {
  const calls: { readonly callId: string; readonly askedMs: number; readonly untilMs: number }[] = [];
  const usersMs: number[] = [];
  for await (const element of elementsOf(path, "messages", { roots })) {
    if (element === undefined || !MARKS.some((mark) => element.includes(mark))) continue;
    const message = parsedObject(element) ?? {};
    if (message["type"] === "user") usersMs.push(asTimeMs(message["timestamp"]) ?? 0);
    for (const call of asArray(message["toolCalls"]).map((value) => asObject(value) ?? {})) {
      const [one] = asked([call]);
      if (one !== undefined && isOfSubagent(call)) calls.push({ ...one, untilMs: one.endMs });
    }
  }
  return calls.map(({ callId, askedMs, untilMs }) => ({
    callId,
    taskMs: usersMs.find((ms) => ms > askedMs && ms < untilMs),
    untilMs,
  }));
}

/** When something was said, and by whom, in the messages that were read. */
export interface Heard {
  readonly timeMs: number;
  readonly isAnswer: boolean;
}

/**
 * A message of a file that is one object. Up to 0.28 an answer without text stands nowhere by itself: its calls were put to
 * the last answer that has one, be it another agent's, and its tokens are lost. When a call was asked for stands in its id.
 *
 * @param heard grows with each message
 */
export function readMerged(
  o: Fields,
  state: ChatState,
  agentId: string | undefined,
  { guests, heard }: { readonly guests: readonly Guest[]; readonly heard: Heard[] },
) {
  const timeMs = asTimeMs(o["timestamp"]) ?? state.timeMs;
  if (o["type"] === "user") heard.push({ timeMs, isAnswer: false });
  const own = asObject(o["tokens"]) === undefined ? undefined : { timeMs, isAnswer: true };
  if (own !== undefined) heard.push(own);
  const guestOf = (call: Fields): Guest | undefined => guests.find(({ callId }) => callId === call["id"]);
  const calls = asArray(o["toolCalls"]).map((value): Fields => {
    const call = asObject(value) ?? {};
    return guestOf(call) === undefined ? call : { ...call, agentId: call["id"] };
  });
  const message = calls.length === 0 ? o : { ...o, toolCalls: calls };
  const here = (next: ChatState): Here => ({ o, id: asString(o["id"]) ?? "", timeMs, state: next, agentId });
  const untold = (next: ChatState): readonly TranscriptEntry[] => [
    ...roundsOf(calls).flatMap((round) => (isTold(round, heard, own) ? [] : [lostAnswer(here(next), round[0])])),
    ...calls.flatMap((call) => {
      const guest = guestOf(call);
      return guest === undefined || guest.taskMs !== undefined
        ? []
        : [lostAnswer({ ...here(next), agentId: guest.callId }, { callId: guest.callId, askedMs: guest.untilMs })];
    }),
  ];
  const speaker = guests.find(
    ({ taskMs, untilMs }) => taskMs !== undefined && timeMs >= taskMs && timeMs < untilMs,
  )?.callId;
  if (speaker === undefined) {
    const { entries, state: next } = readMessage(message, state, agentId);
    return { message, entries, untold: untold(next), state: next };
  }
  // Calls of such a subagent are never written down: all are the main agent's
  const { toolCalls: _, ...said } = o;
  const { entries, state: next } = readMessage(said, state, speaker);
  const tools = callEntries(here(next), calls);
  const endsMs = tools.filter((entry) => entry.kind === "tool_result").map((entry) => entry.timeMs);
  return {
    message,
    entries: [...entries, ...tools],
    untold: untold(next),
    state: { ...next, ...(endsMs.length > 0 && { inputMs: Math.max(next.inputMs ?? 0, ...endsMs) }) },
  };
}

// --- internal ---

/** What the model is told of a subagent that is over. */
const OVER = /^Subagent '[^']*' (?:finished|failed)\b/;
const MARKS = ["Subagent '", '"user"'];

function isOfSubagent(call: Fields): boolean {
  if (call["agentId"] !== undefined) return false;
  return asArray(call["result"]).some((part) => {
    const response = asObject(asObject(asObject(part)?.["functionResponse"])?.["response"]);
    return OVER.test(textOf(response?.["output"] ?? response?.["error"]) ?? "");
  });
}

interface Asked {
  readonly callId: string;
  readonly askedMs: number;
  readonly endMs: number;
}

/** Ids are made when the answer comes: `<tool>-<epoch ms>-<random>`, later `<tool>_<epoch ms>_<n>`. Others do not tell. */
const asked = (calls: readonly Fields[]): readonly Asked[] =>
  calls.flatMap((call): readonly Asked[] => {
    const callId = asString(call["id"]);
    const askedMs = Number(/[-_](1\d{12})[-_][0-9a-f]+$/.exec(callId ?? "")?.[1]);
    const endMs = asTimeMs(call["timestamp"]);
    return callId === undefined || Number.isNaN(askedMs) || endMs === undefined ? [] : [{ callId, askedMs, endMs }];
  });

/** Calls by the answers that asked for them: none asks before all that the one before asked for is over. */
function roundsOf(calls: readonly Fields[]): readonly (readonly [Asked, ...Asked[]])[] {
  const rounds: [Asked, ...Asked[]][] = [];
  for (const one of [...asked(calls)].sort((a, b) => a.askedMs - b.askedMs)) {
    const last = rounds.at(-1);
    if (last?.every(({ endMs }) => one.askedMs < endMs)) last.push(one);
    else rounds.push([one]);
  }
  return rounds;
}

/**
 * An answer is written when it is there in full: behind its calls' ids, before anything else is said or they are over. One
 * of thoughts alone is written with its calls, when they are.
 */
function isTold(round: readonly [Asked, ...Asked[]], heard: readonly Heard[], own: Heard | undefined): boolean {
  const endMs = Math.min(...round.map((one) => one.endMs));
  const next = heard.find(({ timeMs }) => timeMs >= round[0].askedMs - ROUNDED_MS);
  return next?.isAnswer === true && (next.timeMs <= endMs || next === own);
}

/** The two times are taken one after the other. */
const ROUNDED_MS = 2;

/** An answer of which nothing but its calls, or its subagent's last word, is left: what it used is unknown. */
const lostAnswer = (here: Here, { callId, askedMs }: Pick<Asked, "callId" | "askedMs">): TranscriptEntry =>
  defined<EntryOf<"model_call">>({
    kind: "model_call",
    ...at({ ...here, timeMs: askedMs }, `lost:${here.agentId ?? ""}:${callId}`, `lost:${here.id}:${callId}`),
    model: asString(here.o["model"]),
    endMs: askedMs,
    complete: true,
    asksForTools: here.agentId === callId ? undefined : true,
  } as EntryOf<"model_call">);
