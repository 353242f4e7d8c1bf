import { defined } from "../../model/defined.ts";
import type { EntryOf, TokenUsage } from "../../model/transcript.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { at, type Here, inTurn, type LineState, type Read } from "./state.ts";
import { difference, usageOf } from "./usage.ts";

/**
 * `token_usage_record`: one per request, written as soon as the answer is complete; exact. Ids of responses are the
 * provider's: local ones draw them from a few (Ollama) or give one to all (Lemonade). Where the totals stood tells them apart.
 */
export function usageRecord(here: Here): Read {
  const { p } = here;
  const { isWaiting: _, ...answered } = here.state;
  const named = inTurn({ ...answered, hasRecords: true }, p);
  const state = defined<LineState>({ ...named, recordedTurn: named.turnId });
  const responseId = asString(p["response_id"]);
  const place = totalsKey(state, usageOf(p["thread_token_usage"]));
  const globalKey = responseId === undefined ? undefined : `response:${responseId}:${place}`;
  return modelCall({ ...here, state }, usageOf(p["usage"]), {
    key: globalKey ?? place,
    globalKey,
    responseId,
  });
}

/**
 * `token_count`, in versions without records: totals of the thread, written several times, and after the tools of the answer
 * they are about. A call is the difference of two.
 *
 * An older version can go on with a thread that has records: by what it uses the totals alone grow.
 */
export function tokenCount(here: Here): Read {
  const { state } = here;
  const info = asObject(here.p["info"]);
  const totals = usageOf(info?.["total_token_usage"]);
  if (totals === undefined) return { entries: [], state };
  const counted: LineState = { ...state, totals };
  const isOlder = state.isOlderTurn === true && state.recordedTurn !== state.turnId && state.totals !== undefined;
  if (state.hasRecords === true && !isOlder) return { entries: [], state: counted };
  const last = usageOf(info?.["last_token_usage"]);
  // A fork's totals begin with those of the thread it came from, whose lines are not here
  const inherited = state.isFork === true && last !== undefined ? difference(totals, last) : undefined;
  // Up to 0.63 a run that goes on with a session counts from nought, and its first answer can exceed all before it
  const isAnew = last !== undefined && difference(totals, last) === undefined && !isEqual(totals, state.totals);
  const usage = difference(totals, isAnew ? undefined : (state.totals ?? inherited));
  if (usage === undefined) return { entries: [], state: counted };
  const key = totalsKey(state, totals);
  // A turn's id is its own in all files that it is copied to, and so is where the totals stood
  return modelCall({ ...here, state: counted }, usage, {
    key,
    globalKey: state.turnId === undefined ? undefined : key,
  });
}

// --- internal ---

const isEqual = (a: TokenUsage, b: TokenUsage | undefined): boolean => a.input === b?.input && a.output === b?.output;

const totalsKey = ({ turnId, threadId }: LineState, totals: TokenUsage | undefined): string =>
  `usage:${turnId ?? threadId}:${totals?.input}:${totals?.output}`;

interface Ids {
  readonly key: string;
  readonly globalKey: string | undefined;
  readonly responseId?: string | undefined;
}

function modelCall(here: Here, usage: TokenUsage | undefined, { key, globalKey, responseId }: Ids): Read {
  const { answer, inputMs, model, provider } = here.state;
  const endMs = answer?.endMs ?? here.timeMs;
  const entry = defined<EntryOf<"model_call">>({
    kind: "model_call",
    ...at({ ...here, timeMs: endMs }, key, globalKey),
    responseId,
    model,
    provider,
    startMs: Math.min(answer?.startMs ?? inputMs ?? endMs, endMs),
    endMs,
    usage,
    complete: true,
    asksForTools: answer?.asksForTools,
  } as EntryOf<"model_call">);
  const { answer: _, ...state } = here.state;
  return { entries: [entry], state };
}
