import { statSync } from "node:fs";
import type {
  PartSize,
  SessionOrigin,
  TranscriptFile,
  TranscriptQuery,
  TranscriptReader,
} from "#core/model/transcript-reader.ts";
import { belowHome } from "#store/local-sessions.ts";
import type { StoredSession } from "#store/sessions.ts";

type OwnSession = Pick<StoredSession, "sessionId" | "local">;

/**
 * The parts of a stored session. Call this instead of the reader's `files`: of a session with a local id only the parts of its own
 * database are returned, and none if the agent has given the id to another session since.
 *
 * @throws what the reader throws
 */
export async function filesOfSession(
  reader: TranscriptReader,
  { sessionId, local }: OwnSession,
  query: Omit<TranscriptQuery, "sessionId">,
): Promise<readonly TranscriptFile[]> {
  if (local === undefined) return reader.files({ ...query, sessionId });
  const { nativeId, origin } = local;
  if (origin === undefined) return [];
  const own = { ...query, sessionId: nativeId };
  const current = (await reader.originsOf?.(own)) ?? [];
  const same = current.find(
    ({ database, createdMs }) => createdMs === origin.createdMs && belowHome(database, query) === origin.database,
  );
  return same === undefined ? [] : partsOf(await reader.files(own), same);
}

/** The parts that belong to a session with a local id. */
export const partsOf = (files: readonly TranscriptFile[], origin: SessionOrigin): readonly TranscriptFile[] =>
  files
    .filter(({ path }) => path === origin.database)
    .map((file) => ({ ...file, positionKey: `${file.key ?? file.path}@${origin.createdMs}` }));

/** The name under which the store keeps how far a part was read. */
export const positionKeyOf = ({ positionKey, key, path }: TranscriptFile): string => positionKey ?? key ?? path;

/**
 * Size and time that show whether a transcript part changed. Drains and imports must use the same values, because each
 * continues where the other stopped.
 *
 * @throws what the file system throws if the part's own file is missing; other watched files may be missing and count as empty
 */
export const partSizeOf = ({ path, watch = [path] }: TranscriptFile): PartSize =>
  watch
    .map((one) => statSync(one, { throwIfNoEntry: one === path }))
    .reduce<PartSize>(
      (all, one) => ({
        sizeBytes: all.sizeBytes + (one?.size ?? 0),
        modifiedMs: Math.max(all.modifiedMs, one?.mtimeMs ?? 0),
      }),
      { sizeBytes: 0, modifiedMs: 0 },
    );
