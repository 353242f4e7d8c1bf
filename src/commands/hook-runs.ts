import { hookRunsIn } from "#collect/transcripts/hook-runs.ts";
import type { Context } from "#config/context.ts";
import { cardOf } from "#core/rules/cards.ts";
import { monotonicMs } from "#kit/time.ts";
import type { FoundRun, HookSessions, SessionsRead } from "#show/report/hooks/hooks.ts";
import type { StoredSession } from "#store/sessions.ts";
import { type ContentDeps, sourceOf } from "./content.ts";

/**
 * The runs of hooks in sessions, from the agents' files: of the first sessions, as many as can be read while somebody waits. Each run
 * once, because forks have copies. Only for display: nothing is stored.
 *
 * @param onRead called before each session with its index
 */
export async function foundHookRuns(
  { sessions }: HookSessions,
  deps: ContentDeps,
  context: Context,
  onRead: (index: number) => void = () => {},
): Promise<{ readonly runs: readonly FoundRun[]; readonly sessions: SessionsRead }> {
  const endMs = monotonicMs() + MAX_MS;
  let isDone = false;
  const hasTime = (): boolean => !isDone && monotonicMs() < endMs;
  const runs = new Map<string, FoundRun>();
  let read = 0;
  const started: ReturnType<typeof runsIn>[] = [];
  try {
    for (const index of sessions.keys()) {
      // The next files are read while this one is searched
      for (const next of sessions.slice(started.length, index + AT_ONCE))
        started.push(runsIn(next, deps, context, hasTime));
      onRead(index);
      const found = await started[index];
      if (!hasTime()) return { runs: [...runs.values()], sessions: { read, of: sessions.length, isEnded: true } };
      if (found === undefined) continue;
      read++;
      for (const run of found) runs.set(`${run.agent} ${run.id}`, run);
    }
    return { runs: [...runs.values()], sessions: { read, of: sessions.length, isEnded: false } };
  } finally {
    isDone = true;
    await Promise.allSettled(started);
  }
}

// --- internal ---

const AT_ONCE = 4;
/** As a search in the same files. */
const MAX_MS = 10_000;

/** @returns `undefined` if its files are gone or may not be read */
async function runsIn(
  session: StoredSession,
  deps: ContentDeps,
  context: Context,
  hasTime: () => boolean,
): Promise<readonly FoundRun[] | undefined> {
  if (!hasTime()) return undefined;
  const agent = session.source;
  const runs = (await cardOf(deps, agent)?.hookRuns?.())?.default;
  const source = await sourceOf(session, deps, context);
  if (runs === undefined || source === undefined) return undefined;
  const { redact } = source.query;
  const found = await hookRunsIn(source.reader, runs, session, { ...source.query, hasTime });
  return found?.map((run) => ({
    ...run,
    ...(run.hook !== undefined && { hook: redact(run.hook) }),
    agent,
    isOneOfMore: !runs.writesAll(run.event),
  }));
}
