import type { LoadedConfig } from "#config/load.ts";
import type { Places } from "#config/places.ts";
import type { Agent } from "#core/model/agent.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { cardOf } from "#core/rules/cards.ts";
import type { StoredSession } from "#store/sessions.ts";
import { firstPromptLine } from "./first-prompt.ts";
import { type MovedRoots, rootsWithMoved } from "./transcript-roots.ts";

/** Whether time is left. */
export type HasTime = () => boolean;

export interface PromptDeps {
  readonly places: Places;
  readonly loaded: LoadedConfig;
  readonly agents: readonly Agent[];
  /** Takes secrets out of a line. */
  readonly redact: (text: string) => string;
  /** The moved folders of these agents, from the store. */
  readonly movedRoots: (sources: readonly string[]) => MovedRoots;
  /** Starts a clock that is asked before each file but the first. Sessions that are left when time is over have no line. */
  readonly startClock: () => HasTime;
}

/**
 * The first prompt line of each session, by the session's number, from the agents' own files; `undefined` if it has no file,
 * or its file has no prompt. No entry: it was not read, because the time was over, titles are off or the project allows nothing to
 * be kept.
 */
export async function promptLines(
  deps: PromptDeps,
  sessions: readonly StoredSession[],
): Promise<ReadonlyMap<number, string | undefined>> {
  const lines = new Map<number, string | undefined>();
  if (!deps.loaded.config.display.titles) return lines;
  const hasTime = deps.startClock();
  const readers = await readersOf(deps, sessions);
  const moved = deps.movedRoots([...readers.keys()]);
  let isFirst = true;
  for (const session of sessions) {
    if (session.capture === "none") continue;
    const reader = readers.get(session.source);
    if (reader === undefined) {
      lines.set(session.id, undefined);
      continue;
    }
    if (!isFirst && !hasTime()) break;
    isFirst = false;
    const roots = rootsWithMoved(deps, reader, moved.get(session.source) ?? []);
    const query = { home: deps.places.home, roots };
    const line = await firstPromptLine(reader, session, query);
    lines.set(session.id, line === undefined ? undefined : deps.redact(line));
  }
  return lines;
}

// --- internal ---

async function readersOf(
  deps: Pick<PromptDeps, "agents">,
  sessions: readonly StoredSession[],
): Promise<ReadonlyMap<string, TranscriptReader>> {
  const readers = new Map<string, TranscriptReader>();
  for (const source of new Set(sessions.map((session) => session.source))) {
    const reader = (await cardOf(deps, source)?.transcript?.())?.default;
    if (reader !== undefined) readers.set(source, reader);
  }
  return readers;
}
