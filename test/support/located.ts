import { isDeepStrictEqual } from "node:util";
import type { LocatedSession, TranscriptReader } from "../../src/model/agent.ts";
import { partSizeOf } from "../../src/transcripts/part-size.ts";

/** What was passed over, and why. */
export interface Told {
  readonly path: string;
  readonly error: Error;
}

/**
 * Every session a reader finds, in its order, and what it says it passed over.
 *
 * @throws Error where it says of a session that it is one file, and there are others or that one is another
 */
export async function locateAll(
  reader: Pick<TranscriptReader, "locate" | "roots" | "files">,
  home: string,
  roots: readonly string[] = reader.roots(home, {}),
): Promise<{ readonly sessions: readonly LocatedSession[]; readonly problems: readonly Told[] }> {
  const sessions: LocatedSession[] = [];
  const problems: Told[] = [];
  const onProblem = (path: string, error: Error): void => void problems.push({ path, error });
  for await (const session of reader.locate({ home, roots, onProblem })) {
    sessions.push(session);
    const { only, ...query } = session;
    if (only === undefined) continue;
    const files = await reader.files({ ...query, roots });
    if (!isDeepStrictEqual([files, only], [[{ path: session.path }], partSizeOf(session)])) {
      throw new Error(`${session.path} is said to be all of ${session.sessionId}: ${JSON.stringify(files)}`);
    }
  }
  return { sessions, problems };
}
