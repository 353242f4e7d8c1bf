import { isDeepStrictEqual } from "node:util";
import { partSizeOf } from "#collect/transcripts/session-files.ts";
import type { LocatedSession, TranscriptReader } from "#core/model/transcript-reader.ts";

/** A path that the reader skipped, and why. */
export interface LocateProblem {
  readonly path: string;
  readonly error: Error;
}

/**
 * Every session that a reader finds, in its order, and the problems it reports.
 *
 * @throws Error if the reader reports the parts of a session, and `files` returns anything else
 */
export async function locateAll(
  reader: Pick<TranscriptReader, "locate" | "roots" | "files">,
  home: string,
  roots: readonly string[] = reader.roots(home, {}),
): Promise<{ readonly sessions: readonly LocatedSession[]; readonly problems: readonly LocateProblem[] }> {
  const sessions: LocatedSession[] = [];
  const problems: LocateProblem[] = [];
  const onProblem = (path: string, error: Error): void => void problems.push({ path, error });
  for await (const session of reader.locate({ home, roots, onProblem })) {
    sessions.push(session);
    const { parts, ...query } = session;
    if (parts === undefined) continue;
    const files = await reader.files({ ...query, roots });
    const same = files.map((file) => ({ file, ...partSizeOf(file) }));
    if (!isDeepStrictEqual(parts, same)) {
      throw new Error(`${session.sessionId} has other parts than reported: ${JSON.stringify({ parts, same })}`);
    }
  }
  return { sessions, problems };
}
