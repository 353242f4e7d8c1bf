import { findGit, headChangedMs, type NewCommit, newCommits, readHead } from "#config/repository/git-files.ts";
import type { StoredChange } from "#core/model/changes.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { keepsNames } from "#core/rules/capture.ts";
import {
  changeKey,
  commitKey,
  isNotedBranch,
  NO_BRANCH,
  notedBranch,
  ticketsOfBranch,
} from "#core/rules/change-facts.ts";
import { timeMsOf } from "#core/rules/event.ts";
import { extrasOf } from "#core/rules/extras.lazy.ts";
import { needsBranch } from "#core/session/branch-track.ts";
import { levelOf } from "#store/capture/level.ts";
import { hasChangesOff } from "#store/capture/project.ts";
import { extendBranch, setRepository, storedChanges, storedCommits } from "#store/changes.ts";
import { firstEventMs, toolEventsSince } from "#store/facts.ts";
import { rootOf, type StoredSession, sessionById } from "#store/sessions.ts";
import type { Drain } from "./context.ts";
import { lateBranches } from "./noted-branches.ts";
import { storeEntries } from "./store-entries.ts";

/**
 * Reads what HEAD names and which commits its log has, for sessions with new events: their branch, and the commits of
 * their tool calls. Reads files of `.git`; git is not started.
 */
export async function readHeads(drain: Drain, sessions: Iterable<number>): Promise<void> {
  const { db } = drain;
  const roots = new Set([...sessions].map((session) => rootOf(db, sessionById(db, session)).id));
  const heads = new Map<string, ReturnType<typeof headOf>>();
  for (const number of roots) {
    const session = sessionById(db, number);
    const { cwd, repository } = session;
    if (!keepsNames(levelOf(drain, session)) || hasChangesOff(drain, session)) continue;
    if (cwd === undefined || repository === undefined) {
      db.transaction(() => storeEntries(drain, session, pullBranches(storedChanges(db, number), undefined)));
      continue;
    }
    const known = heads.get(cwd) ?? headOf(cwd);
    heads.set(cwd, known);
    const head = await known;
    db.transaction(() => {
      const changes = storedChanges(db, number);
      const pulls = pullBranches(changes, head);
      if (head === undefined) return storeEntries(drain, session, pulls);
      setRepository(db, number, repository, head.commonDir);
      const commits = commitsOf(drain, session, head);
      storeEntries(drain, session, [...commits, ...branchOf(drain, session, changes, head), ...pulls]);
      extendBranch(db, number, head.branch ?? NO_BRANCH, session.lastMs);
    });
  }
}

// --- internal ---

interface Head {
  readonly commonDir: string;
  readonly branch?: string;
  /** When another branch was checked out last. */
  readonly changedMs: number | undefined;
  readonly commits: readonly NewCommit[];
}

async function headOf(folder: string): Promise<Head | undefined> {
  const place = await findGit(folder);
  if (place === undefined) return undefined;
  const { branch } = await readHead(place);
  const commits = await newCommits(place);
  const changedMs = await headChangedMs(place);
  return { commonDir: place.commonDir, changedMs, ...(branch !== undefined && { branch }), commits };
}

/** A tool call, and how many commits it certainly made. */
interface Window {
  readonly callId?: string;
  readonly agentId?: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly madeCommits: number;
}

/** Commits that appeared in the log of HEAD while a tool call of the session ran. */
function commitsOf({ db }: Drain, session: StoredSession, { commits, branch }: Head): readonly TranscriptEntry[] {
  // A rebase makes new ids for old commits
  const own = commits.filter(
    ({ timeMs, commitKind }) => commitKind !== "rebase" && timeMs >= secondOf(session.firstMs),
  );
  if (own.length === 0) return [];
  // Which call made a commit of edited files was not asked when it was found
  const stored = storedCommits(db, session.id).filter(({ how }) => how !== "edits");
  const known = new Map(stored.map((one) => [commitKey(one.commit), one]));
  const open = own.filter(({ commit }) => known.get(commitKey(commit))?.commit !== commit);
  if (open.length === 0) return [];
  const windows = windowsOf(toolEventsSince(db, session.id, (open[0]?.timeMs ?? 0) - LONGEST_CALL_MS));
  const entries: TranscriptEntry[] = [];
  for (const [at, one] of open.entries()) {
    const printed = known.get(commitKey(one.commit));
    const running = windows.filter((window) => isWithin(one, window));
    if (printed !== undefined && one.commit.startsWith(printed.commit)) {
      // The log confirms what may have been printed by something else
      const certainty = printed.certainty === "observed" || running.length > 0 ? "observed" : "inferred";
      const { timeMs, how, callId, agentId } = printed;
      entries.push({ ...entryOf(one, { certainty, how, callId, agentId, branch }), timeMs });
      continue;
    }
    const [maker, ...others] = running.filter(({ madeCommits }) => madeCommits > 0);
    // If the call made n commits and the log has n, they are its commits, even if others work in this folder
    const isCertain =
      maker !== undefined && others.length === 0 && own.filter((o) => isWithin(o, maker)).length === maker.madeCommits;
    const by = isCertain ? maker : running.length === 1 ? running[0] : undefined;
    if (running.length === 0 || isObservedElsewhere(db, session.id, one.commit)) continue;
    const entry = entryOf(one, {
      certainty: isCertain ? "observed" : "inferred",
      how: "reflog",
      callId: by?.callId,
      agentId: by?.agentId,
      branch,
    });
    // The end of the call, because model calls until then led to it; in the order of the log
    entries.push({ ...entry, timeMs: Math.max(one.timeMs, by?.endMs ?? 0) + at / 1_000 });
  }
  return entries;
}

function entryOf(
  { commit, timeMs, commitKind, before }: NewCommit,
  of: Pick<EntryOf<"commit">, "certainty" | "how" | "callId" | "agentId" | "branch">,
): EntryOf<"commit"> {
  const { callId, agentId, branch, certainty, how } = of;
  return {
    kind: "commit",
    key: commitKey(commit),
    timeMs,
    commit,
    certainty,
    how,
    commitKind,
    ...(commitKind === "amend" && before !== undefined && { replaces: before }),
    ...(callId !== undefined && { callId }),
    ...(agentId !== undefined && { agentId }),
    ...(branch !== undefined && { branch }),
  };
}

/** Longer calls are not searched for. */
const LONGEST_CALL_MS = 3_600_000;

const secondOf = (ms: number): number => Math.floor(ms / 1_000) * 1_000;

const isWithin = ({ timeMs }: NewCommit, { startMs, endMs }: Window): boolean =>
  timeMs >= secondOf(startMs) && timeMs <= endMs;

function windowsOf(events: readonly Event[]): readonly Window[] {
  const starts = new Map<string, number>();
  const windows: Window[] = [];
  for (const event of events) {
    if (event.type !== "tool.start" && event.type !== "tool.end") continue;
    const callId = event.data?.tool_call_id;
    const extras = extrasOf(event);
    const endMs = timeMsOf(event);
    if (event.type === "tool.start") {
      if (callId !== undefined) starts.set(callId, endMs);
      continue;
    }
    const startMs = starts.get(callId ?? "") ?? endMs - (event.data?.duration_ms ?? 0);
    const { agent_id: agentId, made_commits: madeCommits = 0 } = extras;
    windows.push({
      startMs,
      endMs,
      madeCommits,
      ...(callId !== undefined && { callId }),
      ...(agentId !== undefined && { agentId }),
    });
  }
  return windows;
}

/** Whether another session made the commit: both work in one folder. */
const isObservedElsewhere = (db: Drain["db"], session: number, commit: string): boolean =>
  db
    .prepare("SELECT 1 FROM commits WHERE key = ? AND session <> ? AND certainty = 'observed'")
    .get(commitKey(commit), session) !== undefined;

/** The branch that is checked out, if it is another one than after the session's last turn, and its tickets. */
function branchOf(
  drain: Drain,
  session: StoredSession,
  changes: readonly StoredChange[],
  { branch = NO_BRANCH, changedMs }: Head,
): readonly TranscriptEntry[] {
  const { db, loaded } = drain;
  if (isFollowed(changes)) return lateBranches(drain, session.id, { timeMs: changedMs, branch });
  if (lastOfHead(changes)?.change === branch) return [];
  const entries = [headEntry(branch, session.lastMs)];
  const hooksMs = firstEventMs(db, session.id);
  if (lastOfHead(changes) === undefined && hooksMs !== undefined && session.firstMs < hooksMs - SAME_START_MS) {
    // HEAD says nothing of what was imported
    const before = hooksMs - SAME_START_MS;
    entries.push({ ...headEntry(notedBranch(changes, before)?.change ?? NO_BRANCH, before), certainty: "inferred" });
  }
  return entries.flatMap((one) => [one, ...ticketsOfBranch(one, loaded.config.changes.ticketPattern)]);
}

const headEntry = (change: string, timeMs: number): EntryOf<"change"> => ({
  kind: "change",
  // A session can come back to a branch
  key: `${changeKey({ changeKind: "branch", change })}:${timeMs}`,
  timeMs,
  changeKind: "branch",
  change,
  certainty: "observed",
  how: "branch-name",
});

/** Times of a session's first hook and first record differ by less if hooks saw it begin. */
const SAME_START_MS = 60_000;

/** Pull requests that the session created, with the branch that was checked out then. */
const pullBranches = (changes: readonly StoredChange[], head: Head | undefined): readonly TranscriptEntry[] =>
  changes.filter(needsBranch).flatMap((one) => {
    // A transcript can name a new branch two seconds late. HEAD is exact if no branch was checked out after the pull request
    const isUnchanged = head?.changedMs !== undefined && one.timeMs >= head.changedMs;
    // HEAD was read after the turns before
    const ofHead = isUnchanged || one.timeMs > (lastOfHead(changes)?.timeMs ?? 0) ? head?.branch : undefined;
    const branch = isFollowed(changes) && !isUnchanged ? notedBranch(changes, one.timeMs)?.change : ofHead;
    if (branch === undefined || branch === NO_BRANCH) return [];
    const { session: _, repository: __, ...fact } = one;
    return [{ kind: "change" as const, key: changeKey(one), ...fact, branch }];
  });

const lastOfHead = (changes: readonly StoredChange[]): StoredChange | undefined =>
  changes.findLast((one) => one.changeKind === "branch" && !isNotedBranch(one));

/** Whether the transcript names each branch that is checked out. */
const isFollowed = (changes: readonly StoredChange[]): boolean =>
  changes.some((one) => isNotedBranch(one) && one.certainty === "observed");
