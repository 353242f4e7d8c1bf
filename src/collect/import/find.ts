import { basename } from "node:path";
import type { LocatedSession, PartSize, SessionOrigin, TranscriptReader } from "#core/model/transcript-reader.ts";
import { cardOf } from "#core/rules/cards.ts";
import { messageOf } from "#kit/errors.ts";
import type { Database } from "#store/database.ts";
import { type LocalSession, type PlannedSession, planLocalSession, sessionsWithIds } from "#store/local-sessions.ts";
import { packedNumbers, readByOthers } from "#store/packed.ts";
import { fromTimeUnits, jsonRows, timeUnits } from "#store/rows.ts";
import type { DrainDeps } from "../drain/context.ts";
import { partSizeOf, partsOf, positionKeyOf } from "../transcripts/session-files.ts";
import { rootsOf, sourcesWithMovedRoots } from "../transcripts/transcript-roots.ts";
import { mayHaveSessions } from "../transcripts/unread-formats.ts";
import type { ReadTask } from "./read.ts";

/** A session that was found, and whether it has to be read. */
export type Found = ReadTask & {
  readonly bytes: number;
  /** When its files were last changed. */
  readonly modifiedMs: number;
  /**
   * `new`: not in the store. `changed`: imported before, and its files have changed. `reimport`: unchanged, but must be read
   * again, see `Known.toReimport`. `known-from-hooks`: hooks reported it, and its files have changed. `unchanged`: nothing to
   * read.
   */
  readonly state: "new" | "changed" | "reimport" | "known-from-hooks" | "unchanged";
  /** Its number in the store; absent if it is not stored. */
  readonly number?: number;
};

interface SourceReader {
  readonly reader: TranscriptReader;
  readonly roots: readonly string[];
  /** Present if the agent's session ids are local: names each session that was found, in order. */
  readonly nameLocal?: (nativeId: string, origin: SessionOrigin) => PlannedSession;
}

interface KnownSession {
  readonly number: number;
  readonly isExcluded: boolean;
  readonly isFromHooks: boolean;
}

/** Size of a file when it was read, and its session. */
type KnownFile = PartSize & { readonly session: number };

/** What the store contains about past sessions, and the folders to search. */
export interface Known {
  readonly positions: ReadonlyMap<string, KnownFile>;
  /** By source and id. A function, because it is needed only if a file has changed. */
  readonly sessions: () => ReadonlyMap<string, KnownSession>;
  /** By source; only agents with transcripts. */
  readonly readers: ReadonlyMap<string, SourceReader>;
  /** Numbers of imported sessions to read again: another version read them, or the user requested it. */
  readonly toReimport: ReadonlySet<number>;
}

interface KnownOptions {
  readonly agents: readonly string[];
  readonly env: Environment;
  readonly again?: boolean;
  /** Folders of registered profiles, by agent. @default none */
  readonly registered?: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads from the store what `findSessions` needs.
 *
 * @param options.env environment variables that set the agents' folders
 * @param options.registered folders of profiles that `enable` registered, by agent
 * @param options.again read all imported sessions again, even if this version read them
 * @param withStore calls its argument with the store, or with `undefined` if there is none. If it closes the store afterwards,
 *   it must call `sessions` of the result first
 */
export async function readKnown(
  deps: DrainDeps,
  { agents: sources, env, again: reimportAll = false, registered = new Map() }: KnownOptions,
  withStore: (read: (db: Database | undefined) => Known) => Known,
): Promise<Known> {
  // Loading all readers takes longer than looking for their folders
  const present = new Set(
    sources.filter((source) => registered.has(source) || mayHaveSessions(deps, cardOf(deps, source), env)),
  );
  const load = async (): Promise<Known> => {
    const readers = new Map<string, TranscriptReader>();
    for (const source of sources) {
      const reader = present.has(source) ? (await cardOf(deps, source)?.transcript?.())?.default : undefined;
      if (reader !== undefined) readers.set(source, reader);
    }
    return withStore((db) => {
      const moved = db === undefined ? [] : sourcesWithMovedRoots(db);
      for (const source of moved) if (sources.includes(source)) present.add(source);
      return {
        positions: db === undefined ? new Map() : positionsIn(db),
        sessions: once(() => (db === undefined ? new Map() : sessionsIn(db))),
        toReimport: db === undefined ? new Set() : reimportAll ? packedNumbers(db) : readByOthers(db, deps.version),
        readers: new Map(
          [...readers].map(([source, reader]) => [
            source,
            {
              reader,
              roots: [...rootsOf({ ...deps, db }, reader, source), ...(registered.get(source) ?? [])],
              ...(cardOf(deps, source)?.capabilities.sessionIds === "local" && {
                nameLocal: namesOf(deps, db, source),
              }),
            },
          ]),
        ),
      };
    });
  };
  const before = present.size;
  const known = await load();
  // The store knows other folders of an agent without any of the usual ones
  return present.size === before ? known : load();
}

/**
 * Finds all past sessions of some agents, the oldest of each agent first. Compares names, sizes and times; opens no files
 * except databases.
 *
 * @param env environment variables that set the agents' folders
 * @param onProblem receives one line for each path that was skipped, and its error
 */
export async function* findSessions(
  { places }: Pick<DrainDeps, "places">,
  { positions, sessions: known, readers, toReimport }: Known,
  env: Environment,
  onProblem: (line: string, error: unknown) => void,
): AsyncGenerator<Found> {
  for (const [source, { reader, roots: knownRoots, nameLocal }] of readers) {
    const roots = [...new Set([...knownRoots, ...reader.roots(places.home, env)])];
    for await (const located of reader.locate({ home: places.home, roots, onProblem: pathProblem(onProblem) })) {
      const found = await filesOf(located, { reader, roots }, onProblem);
      if (found === undefined) continue;
      const { files, sizes } = found;
      const { sessionId: nativeId, origin } = located;
      if (nameLocal !== undefined && origin === undefined)
        throw new Error(`${source}: a located session has no origin`);
      const local = origin === undefined ? undefined : nameLocal?.(nativeId, origin);
      const sessionId = local?.sessionId ?? nativeId;
      const wasRead = files.map((file) => positions.get(positionKeyOf(file)));
      const isSame = wasRead.every(
        (one, i) =>
          one !== undefined && one.sizeBytes === sizes[i]?.sizeBytes && one.modifiedMs === sizes[i]?.modifiedMs,
      );
      const isDone = isSame && !wasRead.some((one) => one !== undefined && toReimport.has(one.session));
      const before = isDone ? undefined : known().get(`${source}\0${sessionId}`);
      yield {
        source,
        sessionId,
        ...(local !== undefined && { local: { nativeId, ...local } }),
        files,
        roots,
        bytes: sizes.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
        modifiedMs: sizes.reduce((ms, { modifiedMs }) => Math.max(ms, modifiedMs), 0),
        state: stateOf(isSame, before, toReimport),
        ...(before !== undefined && { number: before.number }),
      };
    }
  }
}

// --- internal ---

type Environment = Readonly<Record<string, string | undefined>>;

/** @param isSame its files have not changed since they were read */
function stateOf(isSame: boolean, known: KnownSession | undefined, toReimport: ReadonlySet<number>): Found["state"] {
  if (known?.isExcluded === true) return "unchanged";
  if (isSame) return known !== undefined && toReimport.has(known.number) ? "reimport" : "unchanged";
  if (known === undefined) return "new";
  return known.isFromHooks ? "known-from-hooks" : "changed";
}

/** The files of a session that was found, and their sizes; `undefined` if it has none, or they cannot be looked at. */
async function filesOf(
  { origin, parts, ...query }: LocatedSession,
  { reader, roots }: Pick<SourceReader, "reader" | "roots">,
  onProblem: (line: string, error: unknown) => void,
): Promise<FilesOfSession | undefined> {
  if (parts !== undefined) return { files: parts.map(({ file }) => file), sizes: parts };
  try {
    const all = await reader.files({ ...query, roots, onProblem: pathProblem(onProblem) });
    const files = origin === undefined ? all : partsOf(all, origin);
    return files.length === 0 ? undefined : { files, sizes: files.map(partSizeOf) };
  } catch (error) {
    onProblem(`could not look at the session ${JSON.stringify(basename(query.path))}: ${messageOf(error)}`, error);
    return undefined;
  }
}

type FilesOfSession = Pick<ReadTask, "files"> & { readonly sizes: readonly PartSize[] };

const pathProblem =
  (onProblem: (line: string, error: unknown) => void) =>
  (path: string, error: unknown): void =>
    onProblem(`could not look for sessions in ${JSON.stringify(path)}: ${messageOf(error)}`, error);

function once<T>(compute: () => T): () => T {
  let cached: { readonly value: T } | undefined;
  return () => {
    cached ??= { value: compute() };
    return cached.value;
  };
}

/** Names the sessions of one agent with local ids, those before in the same search included. */
function namesOf({ places }: Pick<DrainDeps, "places">, db: Database | undefined, source: string) {
  const known = new Map<string, LocalSession[]>();
  for (const one of db === undefined ? [] : sessionsWithIds(db, source)) {
    const id = one.local?.nativeId ?? one.sessionId;
    known.set(id, [...(known.get(id) ?? []), one]);
  }
  return (nativeId: string, origin: SessionOrigin): PlannedSession => {
    const { createdMs } = origin;
    const stored = known.get(nativeId) ?? [];
    const planned = planLocalSession(stored, places, { source, nativeId, timeMs: createdMs, origins: [origin] });
    const { sessionId, identity } = planned;
    const session = { sessionId, identity, firstMs: createdMs, local: { nativeId, origin: planned.origin ?? origin } };
    known.set(nativeId, [...stored.filter((one) => one.sessionId !== sessionId), session]);
    return planned;
  };
}

const positionsIn = (db: Database): ReadonlyMap<string, KnownFile> =>
  new Map(
    jsonRows<[path: string, session: number, sizeBytes: number, modifiedUnits: number]>(
      db,
      ["path", "session", "size", timeUnits("modified_ms")],
      "positions",
    ).map(([path, session, sizeBytes, units]) => [path, { session, sizeBytes, modifiedMs: fromTimeUnits(units) }]),
  );

const sessionsIn = (db: Database) =>
  new Map(
    db
      .prepare(
        `SELECT id, source, session_id, excluded, EXISTS (SELECT 1 FROM packed p WHERE p.session = s.id) AS packed,
           (parent IS NOT NULL OR pruned_ms IS NOT NULL
             OR EXISTS (SELECT 1 FROM segments g WHERE g.session = s.id)
             OR EXISTS (SELECT 1 FROM events e WHERE e.session = s.id)
             OR EXISTS (SELECT 1 FROM entries e WHERE e.session = s.id)) AS known
         FROM sessions s`,
      )
      .all()
      .map((row) => [
        `${row["source"]}\0${row["session_id"]}`,
        {
          number: Number(row["id"]),
          isExcluded: row["excluded"] === 1,
          isFromHooks: row["known"] === 1 && row["packed"] === 0,
        },
      ]),
  );
