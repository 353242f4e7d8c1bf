import type { HookRun, HookRunReader } from "#core/model/hook-run.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import type { StoredSession } from "#store/sessions.ts";
import type { ContentQuery } from "./session-content.ts";
import { filesOfSession, positionKeyOf } from "./session-files.ts";

/**
 * The runs of hooks in a session's files, and in those of its subagents. A run that a fork copied is in both sessions, with one id.
 *
 * @returns `undefined` if there are no files, if they cannot be read, or if they do not say which hooks ran
 */
export async function hookRunsIn(
  reader: TranscriptReader,
  runs: HookRunReader,
  session: StoredSession,
  { home, roots, hasTime }: ContentQuery,
): Promise<readonly HookRun[] | undefined> {
  const path = session.transcriptPath;
  const found = new Map<string, HookRun>();
  try {
    const files = await filesOfSession(reader, session, { home, roots, ...(path !== undefined && { path }) });
    for (const file of new Map(files.map((one) => [positionKeyOf(one), one])).values()) {
      if (!hasTime()) return undefined;
      for await (const run of runs.read({ ...file, roots })) found.set(run.id, run);
    }
    if (files.length === 0 || (found.size === 0 && runs.isIn?.(session.agentVersion) === false)) return undefined;
    return [...found.values()];
  } catch {
    // A file was removed, or cannot be read: how many runs were in it is unknown
    return undefined;
  }
}
