import type { TranscriptFile } from "#core/model/transcript-reader.ts";

/** One session of a database as a part of a transcript; its key names the session. */
export const partOf = (path: string, sessionId: string, agentId: string | undefined): TranscriptFile => ({
  path,
  key: `${path}#${agentId === undefined ? "" : "agent:"}${sessionId}`,
  watch: [path, `${path}-wal`],
  ...(agentId !== undefined && { agentId }),
});

/** The session that a part of `partOf` names. */
export const sessionIn = ({ path, key, agentId }: TranscriptFile): string =>
  agentId ?? (key ?? "").slice(path.length + 1);
