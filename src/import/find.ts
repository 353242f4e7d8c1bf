import { statSync } from "node:fs";
import { basename } from "node:path";
import { cardOf, type Drain, messageOf } from "../drain/deps.ts";
import { rootsOf } from "../drain/roots.ts";
import type { TranscriptFile, TranscriptReader } from "../model/agent.ts";
import type { Database } from "../store/database.ts";
import type { ReadTask } from "./read.ts";

/** What becomes of a session that was found. */
export type Found = ReadTask & {
  readonly bytes: number;
  /** When its files were last changed. */
  readonly modifiedMs: number;
  /**
   * `new`: the store does not know it. `changed`: it was imported before, and has grown since. `told`: hooks told of it, and
   * its files have something new. `unchanged`: nothing is to be read.
   */
  readonly state: "new" | "changed" | "told" | "unchanged";
  /** In the store, where it is known there. */
  readonly number?: number;
};

/**
 * Every past session of some agents, the oldest of each first. Looks at names, sizes and times, and opens nothing but
 * databases.
 *
 * @param env variables that move the agents' folders
 * @param onProblem what was passed over, one line each
 */
export async function* findSessions(
  drain: Drain,
  sources: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  onProblem: (line: string) => void,
): AsyncGenerator<Found> {
  const [positions, known] = [positionsIn(drain.db), sessionsIn(drain.db)];
  for (const source of sources) {
    const reader = (await cardOf(drain, source)?.transcript?.())?.default;
    if (reader === undefined) continue;
    const roots = [...new Set([...rootsOf(drain, reader, source), ...reader.roots(drain.places.home, env)])];
    for await (const { files, ...located } of sessionsOf(drain, reader, roots, onProblem)) {
      const sizes = files.map(sizeOf);
      const isSame = files.every((file, i) => {
        const before = positions.get(file.key ?? file.path);
        return before !== undefined && before.size === sizes[i]?.size && before.modifiedMs === sizes[i]?.modifiedMs;
      });
      const before = known.get(`${source}\0${located.sessionId}`);
      yield {
        source,
        sessionId: located.sessionId,
        files,
        roots,
        bytes: sizes.reduce((sum, { size }) => sum + size, 0),
        modifiedMs: sizes.reduce((ms, { modifiedMs }) => Math.max(ms, modifiedMs), 0),
        state:
          isSame || before?.isExcluded === true
            ? "unchanged"
            : before === undefined
              ? "new"
              : before.isPacked
                ? "changed"
                : "told",
        ...(before !== undefined && { number: before.number }),
      };
    }
  }
}

// --- internal ---

async function* sessionsOf(
  { places }: Drain,
  reader: TranscriptReader,
  roots: readonly string[],
  onProblem: (line: string) => void,
): AsyncGenerator<{ readonly sessionId: string; readonly files: readonly TranscriptFile[] }> {
  const tell = (path: string, error: unknown): void =>
    onProblem(`could not look for sessions in ${JSON.stringify(path)}: ${messageOf(error)}`);
  for await (const located of reader.locate({ home: places.home, roots, onProblem: tell })) {
    try {
      const files = located.files ?? (await reader.files({ ...located, roots }));
      if (files.length > 0) yield { sessionId: located.sessionId, files };
    } catch (error) {
      onProblem(`could not look at the session ${JSON.stringify(basename(located.path))}: ${messageOf(error)}`);
    }
  }
}

interface Size {
  readonly size: number;
  readonly modifiedMs: number;
}

/** Of all files that a part consists of together; what is gone meanwhile is empty. */
function sizeOf({ path, watch = [path] }: TranscriptFile): Size {
  return watch
    .map((one) => statSync(one, { throwIfNoEntry: false }))
    .reduce<Size>(
      (all, one) => ({ size: all.size + (one?.size ?? 0), modifiedMs: Math.max(all.modifiedMs, one?.mtimeMs ?? 0) }),
      { size: 0, modifiedMs: 0 },
    );
}

const positionsIn = (db: Database): ReadonlyMap<string, Size> =>
  new Map(
    db
      .prepare("SELECT path, size, modified_ms FROM positions")
      .all()
      .map((row) => [String(row["path"]), { size: Number(row["size"]), modifiedMs: Number(row["modified_ms"]) }]),
  );

const sessionsIn = (db: Database) =>
  new Map(
    db
      .prepare(
        `SELECT id, source, session_id, excluded, EXISTS (SELECT 1 FROM packed p WHERE p.session = s.id) AS packed
         FROM sessions s`,
      )
      .all()
      .map((row) => [
        `${row["source"]}\0${row["session_id"]}`,
        { number: Number(row["id"]), isExcluded: row["excluded"] === 1, isPacked: row["packed"] === 1 },
      ]),
  );
