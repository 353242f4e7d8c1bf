import { defined } from "#kit/objects.ts";
import type { Event } from "../model/event-schema.ts";
import type { SessionContext } from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { nearestPairs } from "./join.ts";

/** Key of the turn of activity before the first prompt, or without any. */
export const NO_PROMPT = "none";

/** One prompt, reported by a hook, the transcript or both. */
export interface JoinedPrompt {
  readonly key: string;
  readonly timeMs: number;
  readonly origin: "human" | "machine" | "command";
  readonly length?: number;
  readonly hasHook: boolean;
  readonly uses: readonly string[];
}

/**
 * Joins prompts from hooks with those of the transcript: by the agent's prompt id, or for agents without one by equal
 * length, nearest in time first.
 *
 * @returns prompts that open a turn or may open one, ordered by time; none of settled turns
 */
export function joinPrompts(
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
  context: SessionContext,
): readonly JoinedPrompt[] {
  const written = entries
    .filter((e) => e.kind === "prompt")
    .filter((e) => !context.turns.has(e.promptKey ?? e.key))
    .sort((a, b) => a.timeMs - b.timeMs || (a.key < b.key ? -1 : 1));
  // If two lines share a prompt id, the last one is the prompt: a fork gives its own id to the prompts it copies. A teammate's
  // message has the id of the turn during which it arrives and starts no turn.
  const byOrigin = [...written.filter((e) => e.origin === "machine"), ...written.filter((e) => e.origin !== "machine")];
  const byKey = new Map(byOrigin.map((e) => [e.promptKey ?? e.key, e]));
  const linesOf = new Map<string, string[]>();
  for (const e of written) linesOf.set(e.promptKey ?? e.key, [...(linesOf.get(e.promptKey ?? e.key) ?? []), e.key]);
  // A subagent's instructions are not a prompt of the user
  const hookPrompts = events
    .filter((e) => e.type === "prompt.submit")
    .filter((e) => extrasOf(e).agent_id === undefined)
    .sort((a, b) => timeMsOf(a) - timeMsOf(b));

  const hooks = new Map<string, (typeof hookPrompts)[number][]>();
  const settledWithoutHook = new Set([...context.turns].filter(([, turn]) => !turn.hasHook).map(([key]) => key));
  for (const event of hookPrompts) {
    const id = extrasOf(event).prompt_id;
    const key =
      id ??
      repeatedKey(event, hooks) ??
      nearest(event, byKey, hooks) ??
      settledTurnOf(event, context, settledWithoutHook) ??
      repeatedTurnOf(event, context) ??
      event.id;
    if (context.turns.has(key)) settledWithoutHook.delete(key);
    else hooks.set(key, [...(hooks.get(key) ?? []), event]);
  }

  const prompts = [...new Set([...byKey.keys(), ...hooks.keys()])].map((key): JoinedPrompt => {
    const entry = byKey.get(key);
    const seen = hooks.get(key) ?? [];
    const first = seen[0];
    const machine = entry?.origin === "machine" || seen.some((e) => extrasOf(e).prompt_origin === "machine");
    return defined<JoinedPrompt>({
      key,
      timeMs: first !== undefined ? timeMsOf(first) : (entry?.timeMs ?? 0),
      origin: machine ? "machine" : first !== undefined ? "human" : (entry?.origin ?? "human"),
      length: first?.data?.prompt_length ?? entry?.length,
      hasHook: first !== undefined,
      uses: [...seen.map((e) => e.id), ...(linesOf.get(key) ?? [])],
    });
  });
  const inTranscriptOrder = new Map(written.map((e, index) => [e.promptKey ?? e.key, index]));
  prompts.sort(
    (a, b) =>
      a.timeMs - b.timeMs ||
      (inTranscriptOrder.get(a.key) ?? 0) - (inTranscriptOrder.get(b.key) ?? 0) ||
      (a.key < b.key ? -1 : 1),
  );
  return prompts;
}

/**
 * Whether two prompts of unknown length are close enough to be one. A user does not type two prompts within the time
 * between a hook and its transcript line.
 */
const isNear = (apartMs: number): boolean => Math.abs(apartMs) <= NEAR_WITHIN_MS;

/**
 * For agents without prompt ids: a transcript read after the hooks' turns are settled has other keys for the same prompts.
 * Such a turn continues under the transcript's key; otherwise it would be counted twice.
 *
 * Prompts match by equal length, or by time if the transcript has no length, nearest first. Unsettled prompts from hooks are
 * candidates too, so that a line of a later prompt is not mistaken for the settled one.
 *
 * @param events unsettled events
 * @param entries unsettled entries
 * @returns the same context if there are no such prompts
 */
export function withLatePrompts(
  context: SessionContext,
  events: readonly Event[],
  entries: readonly TranscriptEntry[],
): SessionContext {
  const hookOnlyTurns = [...context.turns].filter(([, turn]) => turn.hookOnly === true);
  if (hookOnlyTurns.length === 0) return context;
  const written = entries
    .filter((e) => e.kind === "prompt" && e.origin !== "command")
    .map((e) => ({ key: e.promptKey ?? e.key, ms: e.timeMs, length: e.kind === "prompt" ? e.length : undefined }))
    .filter(({ key }) => !context.turns.has(key));
  const settled = new Set(hookOnlyTurns.map(([key]) => key));
  const hookPrompts = [
    ...hookOnlyTurns.map(([key, { startMs, promptLength }]) => ({ key, ms: startMs, length: promptLength })),
    ...events
      .filter((e) => e.type === "prompt.submit" && extrasOf(e).prompt_id === undefined)
      .map((e) => ({
        key: e.id,
        ms: timeMsOf(e),
        length: e.type === "prompt.submit" ? e.data?.prompt_length : undefined,
      })),
  ];
  const candidates = hookPrompts.flatMap(({ key, ms, length }) =>
    written
      .filter((line) => line.length === length || (line.length === undefined && isNear(ms - line.ms)))
      .map((line) => ({ a: key, b: line.key, apartMs: Math.abs(ms - line.ms) }))
      .filter(({ apartMs }) => !settled.has(key) || apartMs <= NEAR_MS),
  );
  const renamed = new Map([...nearestPairs(candidates)].filter(([key]) => settled.has(key)));
  return renamed.size === 0 ? context : renamedIn(context, renamed);
}

// --- internal ---

const NEAR_WITHIN_MS = 2_000;

/** Two registrations of one hook run one after the other, or at the same time; no user types as fast. */
const REPEATED_WITHIN_MS = 500;

/** The prompt of a hook that reports it a second time. */
const repeatedKey = (event: Submitted, hooks: ReadonlyMap<string, readonly Submitted[]>): string | undefined =>
  [...hooks].find(([, seen]) =>
    seen.some(
      (other) =>
        extrasOf(other).prompt_id === undefined &&
        other.data?.prompt_length !== undefined &&
        other.data?.prompt_length === event.data?.prompt_length &&
        timeMsOf(event) - timeMsOf(other) <= REPEATED_WITHIN_MS,
    ),
  )?.[0];

/** The settled turn whose prompt a hook reports a second time. Without the transcript's line, equal prompts stay different ones. */
const repeatedTurnOf = (event: Submitted, context: SessionContext): string | undefined =>
  [...context.turns].find(
    ([key, turn]) =>
      key !== NO_PROMPT &&
      turn.hookOnly !== true &&
      turn.promptLength === event.data?.prompt_length &&
      isNear(turn.startMs - timeMsOf(event)),
  )?.[0];

type Submitted = Extract<Event, { type: "prompt.submit" }>;
type Written = Extract<TranscriptEntry, { kind: "prompt" }>;

function nearest(
  event: Submitted,
  byKey: ReadonlyMap<string, Written>,
  taken: ReadonlyMap<string, unknown>,
): string | undefined {
  const length = event.data?.prompt_length;
  const awayMs = (e: Written): number => Math.abs(e.timeMs - timeMsOf(event));
  const free = [...byKey].filter(([key, e]) => !taken.has(key) && e.origin !== "command");
  free.sort(([, a], [, b]) => awayMs(a) - awayMs(b));
  const found =
    free.find(([, e]) => e.length === length) ?? free.find(([, e]) => e.length === undefined && isNear(awayMs(e)));
  return found?.[0];
}

function settledTurnOf(
  event: Submitted,
  context: SessionContext,
  withoutHook: ReadonlySet<string>,
): string | undefined {
  const turns = [...withoutHook].flatMap((key) => {
    const turn = context.turns.get(key);
    // Work without a prompt may be of any turn
    return turn === undefined || key === NO_PROMPT ? [] : [{ key, ...turn }];
  });
  const found =
    turns.find(({ promptLength }) => promptLength === event.data?.prompt_length) ??
    turns.find(({ promptLength, startMs }) => promptLength === undefined && isNear(startMs - timeMsOf(event)));
  return found?.key;
}

/** Longest time between the hook and the line of one prompt, including clock differences and slow disks; the same as for calls. */
const NEAR_MS = 60_000;

function renamedIn(context: SessionContext, renamed: ReadonlyMap<string, string>): SessionContext {
  const keyOf = (key: string): string => renamed.get(key) ?? key;
  return {
    ...context,
    renamed,
    turns: new Map(
      [...context.turns].map(([key, { hookOnly, ...turn }]) => [
        keyOf(key),
        { ...turn, ...(hookOnly === true && !renamed.has(key) && { hookOnly }) },
      ]),
    ),
    subagents: new Map(
      [...context.subagents].map(([id, subagent]) => [
        id,
        subagent.turnKey === undefined ? subagent : { ...subagent, turnKey: keyOf(subagent.turnKey) },
      ]),
    ),
  };
}
