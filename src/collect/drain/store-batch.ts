import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import type { PartSize, TranscriptBatch } from "#core/model/transcript-reader.ts";
import { storeContent } from "#store/capture/content.ts";
import { levelOf } from "#store/capture/level.ts";
import { limitMemo } from "#store/capture/limit-fields.ts";
import { hookPromptIds } from "#store/facts.ts";
import { setPosition } from "#store/positions.ts";
import { type StoredSession, sessionById, setFork, updateSession } from "#store/sessions.ts";
import { unknownRecordKinds } from "../payload/drift.ts";
import type { Drain } from "./context.ts";
import { sessionNamed } from "./local-sessions.ts";
import { addSubagents, makeSubagent } from "./make-subagent.ts";
import { notedBranches } from "./noted-branches.ts";
import { lineIncrements, recordSelf, recordUnknownNames } from "./self.ts";
import { entriesAtLevel, storeEntries } from "./store-entries.ts";

/**
 * Stores one batch of a transcript and the position after it, in one commit. If the batch shows that the session is a subagent's,
 * only that is stored.
 *
 * @param key of the transcript part, see `TranscriptFile`
 * @param size of the part when it was read
 */
export function storeBatch(
  drain: Drain,
  session: StoredSession,
  key: string,
  batch: TranscriptBatch,
  size: PartSize,
): void {
  const { db, report } = drain;
  db.transaction(() => {
    const own = ownPart(drain, session, batch.entries);
    // From all entries: a file contains them once, in a fork's file among the copied lines
    const allowed = entriesAtLevel(drain, session, batch.entries);
    for (const entry of allowed) if (entry.kind === "session") applySessionEntry(drain, session, entry);
    // With the folder that these entries name
    const stored = sessionById(db, session.id);
    if (stored.parent !== undefined) return;
    const reported = own.findLast((entry) => entry.kind === "reported_usage");
    const facts = own.filter((entry) => entry.kind !== "session" && entry.kind !== "reported_usage");
    storeEntries(drain, stored, [...facts, ...notedBranches(drain, session, allowed)]);
    drain.audit?.noteInputs(stored, batch.content ?? []);
    storeContent(drain, session, batch.content ?? [], levelOf(drain, session));
    updateSession(db, session.id, {
      timeMs: facts.reduce((ms, entry) => Math.max(ms, entry.timeMs), session.lastMs),
      reported: reported === undefined ? undefined : JSON.stringify(reported.byModel),
    });
    setPosition(
      db,
      session.id,
      key,
      {
        offset: { ...batch.next, memo: { ...limitMemo(batch.next.memo) } },
        ...size,
      },
      batch.unreadable,
    );
    report.transcriptLinesUnreadable += batch.unreadable;
    recordSelf(drain, lineIncrements(session.source, batch.records ?? 0, batch.unreadable));
    recordUnknownNames(
      drain,
      session.source,
      unknownRecordKinds(batch.unknownKinds, batch.unreadUsage),
      sessionById(db, session.id).agentVersion,
    );
  }, "commit.transcript");
}

// --- internal ---

function applySessionEntry(drain: Drain, session: StoredSession, entry: EntryOf<"session">): void {
  updateSession(drain.db, session.id, {
    timeMs: session.lastMs,
    cwd: session.cwd === undefined ? entry.cwd : undefined,
    agentVersion: entry.agentVersion,
    branch: entry.gitBranch,
    contextParts: entry.contextParts && { timeMs: entry.timeMs, ...entry.contextParts },
  });
  const { parentSessionId, subagentSessionId, timeMs } = entry;
  if (parentSessionId !== undefined) {
    const parent = sessionNamed(drain, session.source, parentSessionId, timeMs);
    makeSubagent(drain.db, session, parent.sessionId, timeMs);
  }
  if (subagentSessionId !== undefined) addSubagents(drain, session.id, [subagentSessionId], timeMs);
}

/**
 * A fork's file begins with a copy of another session. The first prompt that a hook reported for the fork shows where the copy
 * ends; without such a prompt, the times of the entries do: copied entries keep theirs.
 */
function ownPart(
  drain: Drain,
  session: StoredSession,
  entries: readonly TranscriptEntry[],
): readonly TranscriptEntry[] {
  if (session.fork !== "waiting") return entries;
  const reported = hookPromptIds(drain.db, session.id);
  const first = entries.find((entry) => entry.kind === "prompt" && reported.has(entry.promptKey ?? ""));
  // Copied prompts can have the id of the first own one, which is the last with that id
  const begins =
    first === undefined
      ? entries.length
      : entries.findLastIndex((entry) => entry.kind === "prompt" && entry.promptKey === first.promptKey);
  const own = entries.filter((entry, index) => index >= begins || entry.timeMs >= session.firstMs);
  if (own.length > 0) setFork(drain.db, session.id, "begun");
  return own;
}
