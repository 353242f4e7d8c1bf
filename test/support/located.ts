import { isDeepStrictEqual } from "node:util";
import type { LocatedSession, TranscriptReader } from "../../src/model/agent.ts";
import { partSizeOf } from "../../src/transcripts/part-size.ts";

/** A path that the reader skipped, and why. */
export interface LocateProblem {
  readonly path: string;
  readonly error: Error;
}

/**
 * Every session that a reader finds, in its order, and the problems it reports.
 *
 * @throws Error if the reader reports that a session is a single file (`only`), and `files` returns anything else
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
    const { only, ...query } = session;
    if (only === undefined) continue;
    const files = await reader.files({ ...query, roots });
    if (!isDeepStrictEqual([files, only], [[{ path: session.path }], partSizeOf(session)])) {
      throw new Error(`${session.path} is reported as the only file of ${session.sessionId}: ${JSON.stringify(files)}`);
    }
  }
  return { sessions, problems };
}
