import type { LocatedSession, TranscriptReader } from "../../src/model/agent.ts";

/** What was passed over, and why. */
export interface Told {
  readonly path: string;
  readonly error: Error;
}

/** Every session a reader finds, in its order, and what it says it passed over. */
export async function locateAll(
  reader: Pick<TranscriptReader, "locate" | "roots">,
  home: string,
  roots: readonly string[] = reader.roots(home, {}),
): Promise<{ readonly sessions: readonly LocatedSession[]; readonly problems: readonly Told[] }> {
  const sessions: LocatedSession[] = [];
  const problems: Told[] = [];
  const onProblem = (path: string, error: Error): void => void problems.push({ path, error });
  for await (const session of reader.locate({ home, roots, onProblem })) sessions.push(session);
  return { sessions, problems };
}
