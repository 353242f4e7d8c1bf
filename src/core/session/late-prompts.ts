import type { Event } from "../model/event-schema.ts";
import type { SessionContext } from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { timeMsOf } from "../rules/event.ts";
import { extrasOf } from "../rules/extras.lazy.ts";
import { nearestPairs } from "./join.ts";
import { isNear } from "./prompts.ts";

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
