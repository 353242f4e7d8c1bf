import type { LoadedConfig } from "#config/load.ts";
import type { Places } from "#config/places.ts";
import type { Agent } from "#core/model/agent.ts";
import type { Content, ContentUpdate } from "#core/model/content.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptReader } from "#core/model/transcript-reader.ts";
import { cardOf } from "#core/rules/cards.ts";
import type { StoredSession } from "#store/sessions.ts";
import { filesOfSession } from "./session-files.ts";
import { type MovedRoots, rootsWithMoved } from "./transcript-roots.ts";

/** Where to read. */
interface PromptQuery {
  readonly home: string;
  /** Folders of its agent. Files outside them are not read. */
  readonly roots: readonly string[];
}

/**
 * The first line of the first prompt that a human typed, from the agent's own file. It is only for display: the caller must neither
 * store nor send it, and must take secrets out.
 *
 * @returns `undefined` if there is none near the beginning, or the file is gone. Never throws.
 */
async function firstPromptLine(
  reader: TranscriptReader,
  session: StoredSession,
  { home, roots }: PromptQuery,
): Promise<string | undefined> {
  const path = session.transcriptPath;
  try {
    const [main] = await filesOfSession(reader, session, {
      home,
      roots,
      isOwnOnly: true,
      ...(path !== undefined && { path }),
    });
    if (main === undefined) return undefined;
    let [at, left] = [0, MAX_BYTES];
    for await (const batch of reader.read({ ...main, roots }, INITIAL_OFFSET, OPTIONS)) {
      const line = lineIn(batch.entries, batch.content);
      if (line !== undefined) return line;
      const { bytes } = batch.next;
      left -= bytes > at ? bytes - at : UNMEASURED_BYTES;
      if (left <= 0) return undefined;
      at = bytes;
    }
  } catch {
    // A missing title is no error: the file was removed, or cannot be read
  }
  return undefined;
}

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

/** Prompts are at the beginning. */
const OPTIONS: ReadOptions = {
  content: true,
  isSync: true,
  batchBytes: 16 << 10,
  untilPrompt: (entries, content) => lineIn(entries, content) !== undefined,
};
/** Of a file, before its first prompt. */
const MAX_BYTES = 4 << 20;
/** A batch of a reader whose offsets are not in bytes counts as this much. */
const UNMEASURED_BYTES = 2 << 20;
/** More than any terminal shows. */
const MAX_CHARACTERS = 200;
/** Of a prompt, before its first line with text. */
const MAX_SEARCHED = 10_000;

function lineIn(entries: readonly TranscriptEntry[], content: readonly ContentUpdate[] = []): string | undefined {
  for (const entry of entries) {
    if (entry.kind !== "prompt" || entry.origin !== "human" || entry.agentId !== undefined) continue;
    for (const update of content) {
      const line = isPromptOf(entry.key, update) ? firstLine(update.value) : undefined;
      if (line !== undefined) return line;
    }
  }
  return undefined;
}

const isPromptOf = (key: string, update: ContentUpdate): update is Content =>
  "part" in update && update.part === "prompt" && update.fact === key;

function firstLine(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const line = value
    .slice(0, MAX_SEARCHED)
    .split("\n")
    .map((one) => one.replace(/\s+/g, " ").trim())
    .find((one) => one !== "");
  return line?.replace(/^"(.*)"$/, "$1").slice(0, MAX_CHARACTERS);
}

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
