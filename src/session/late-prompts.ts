import { type Event, extrasOf, timeMsOf } from "../model/event.ts";
import type { SessionContext } from "../model/session.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { nearestPairs } from "./nearest.ts";
import { isNear } from "./prompts.ts";

/**
 * For agents without prompt ids: a transcript read after the hooks' turns are settled has other keys for the same prompts.
 * Such a turn continues under the transcript's key; otherwise it would be counted a second time.
 *
 * Matches by equal length, or by time where the transcript has no length, nearest first. Prompts that hooks reported since
 * then can match too.
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
  const alone = [...context.turns].filter(([, turn]) => turn.hookAlone === true);
  if (alone.length === 0) return context;
  const written = entries
    .filter((e) => e.kind === "prompt" && e.origin !== "command")
    .map((e) => ({ key: e.promptKey ?? e.key, ms: e.timeMs, length: e.kind === "prompt" ? e.length : undefined }))
    .filter(({ key }) => !context.turns.has(key));
  const settled = new Set(alone.map(([key]) => key));
  const hookPrompts = [
    ...alone.map(([key, { startMs, promptLength }]) => ({ key, ms: startMs, length: promptLength })),
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

/** Between the hook and the line of one prompt, including clock differences and slow disks; the same bound as for calls. */
const NEAR_MS = 60_000;

function renamedIn(context: SessionContext, renamed: ReadonlyMap<string, string>): SessionContext {
  const keyOf = (key: string): string => renamed.get(key) ?? key;
  return {
    ...context,
    renamed,
    turns: new Map(
      [...context.turns].map(([key, { hookAlone, ...turn }]) => [
        keyOf(key),
        renamed.has(key) ? { ...turn, renamed: true } : { ...turn, ...(hookAlone === true && { hookAlone }) },
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
