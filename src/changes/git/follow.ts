import PQueue from "p-queue";
import type { CommitOutcome, CommitToFollow } from "#core/model/outcomes.ts";
import { attestationsOf, sessionsInTrailers } from "./attested.ts";
import { readAmends, readBranches } from "./branches.ts";
import { comparePatches } from "./compare.ts";
import type { Git } from "./git.ts";
import { History } from "./history.ts";
import { countKept, type Fates, type FoundCommit, type FoundOutcome } from "./kept.ts";
import { landingsOf } from "./landing.ts";
import { ASKED_AT_ONCE, Objects } from "./objects.ts";
import { addedLines, FileSets } from "./patches.ts";
import { placeOf } from "./places.ts";
import { type Refs, readRefs } from "./refs.ts";
import { revertsOf } from "./reverts.ts";
import { ticketsInTrailers, trailersOf } from "./trailers.ts";

/**
 * What became of commits of one repository. Git runs a few times for all of them together; it writes nothing and opens no connection,
 * so the answer is as new as the last fetch.
 *
 * @param ticketPattern of ids of tickets in trailers
 * @returns one outcome per commit, in the same order
 * @throws GitError if the repository cannot be read, or in the time that was given
 */
export async function followCommits(
  git: Git,
  commits: readonly CommitToFollow[],
  nowMs: number,
  ticketPattern: string,
): Promise<readonly CommitOutcome[]> {
  if (commits.length === 0) return [];
  const objects = new Objects(git);
  try {
    const refs = await readRefs(git);
    const questions = new PQueue({ concurrency: ASKED_AT_ONCE });
    const found = await questions.addAll(commits.map((commit) => () => findCommit(objects, commit)));
    const notes = await attestationsOf(
      git,
      objects,
      refs,
      found.flatMap(({ id }) => id ?? []),
    );
    const fileSets = new FileSets(git);
    const fates = await fatesOf(git, refs, fileSets, found);
    const counted = await countKept(git, objects, fates, nowMs);
    const outcomes = await withReverts(git, fates.history, fileSets, counted);
    const landings = await landingsOf(objects, fates.history, outcomes, ticketPattern);
    return outcomes.map(({ landed: _, ...outcome }, i) => {
      const trailers = found[i]?.trailers ?? [];
      const attested = [...(notes.get(outcome.id ?? "") ?? []), ...sessionsInTrailers(trailers)];
      const { pull, tickets = [] } = landings.get(outcome.commit) ?? {};
      return {
        ...outcome,
        attested,
        tickets: [...new Set([...ticketsInTrailers(trailers, ticketPattern), ...tickets])],
        ...(pull !== undefined && { landingPull: pull }),
      };
    });
  } finally {
    objects.close();
    git.stop();
  }
}

// --- internal ---

const DAY_MS = 86_400_000;
/** A commit's message may be long; its end has the trailers. */
const MAX_COMMIT_BYTES = 1 << 20;

async function findCommit(objects: Objects, commit: CommitToFollow): Promise<FoundCommit> {
  const object = await objects.read(`${commit.commit}^{commit}`, MAX_COMMIT_BYTES);
  if (object?.type !== "commit") return { ...commit, trailers: [] };
  const text = object.bytes?.toString("utf8") ?? "";
  const seconds = /^committer .* (\d+) [+-]\d{4}$/m.exec(text)?.[1];
  const authored = /^author .* (\d+) [+-]\d{4}$/m.exec(text)?.[1];
  const timeMs = seconds === undefined ? commit.timeMs : Number(seconds) * 1000;
  return {
    ...commit,
    timeMs,
    id: object.id,
    ...(authored !== undefined && { authored }),
    trailers: trailersOf(text.slice(text.indexOf("\n\n") + 2)),
  };
}

/** Everything but reverts and lines. */
async function fatesOf(git: Git, refs: Refs, fileSets: FileSets, found: readonly FoundCommit[]): Promise<Fates> {
  const added = await addedLines(git, [...new Set(found.flatMap(({ id }) => id ?? []))]);
  const tip = refs.tips.get(refs.defaultRef ?? "");
  if (tip === undefined) {
    const reason = "the repository's default branch is unknown";
    return { added, found, outcomes: found.map((commit) => ({ ...named(commit), fate: "unknown", reason })) };
  }
  const sinceMs = Math.min(...found.map(({ timeMs }) => timeMs)) - DAY_MS;
  const history = await History.read(git, tip, sinceMs);
  const missing = found.flatMap((commit) =>
    commit.id === undefined || history.has(commit.id) ? [] : [{ ...commit, id: commit.id }],
  );
  const branches = await readBranches(
    git,
    refs,
    missing.map(({ id }) => id),
    sinceMs,
  );
  const amends = missing.length === 0 ? new Map<string, string>() : await readAmends(git, refs);
  const compared = await comparePatches(git, { history, branches, fileSets, missing });
  const search = { refs, history, branches, amends, compared, found };
  const outcomes = found.map((commit): FoundOutcome => {
    const { landed, ...place } = placeOf(commit, search);
    const landing = landed === undefined ? undefined : history.landingOf(landed);
    const landedMs = landing === undefined ? undefined : history.timeOf(landing);
    return {
      ...named(commit),
      ...place,
      ...(landed !== undefined && { landed }),
      ...(landedMs !== undefined && { landedMs }),
    };
  });
  return { history, added, found, outcomes };
}

const named = ({ commit, id }: FoundCommit) => ({ commit, ...(id !== undefined && { id }) });

async function withReverts(
  git: Git,
  history: History | undefined,
  fileSets: FileSets,
  outcomes: readonly FoundOutcome[],
): Promise<readonly FoundOutcome[]> {
  if (history === undefined) return outcomes;
  const landed = new Map<string, boolean>();
  for (const { landed: commit, lines } of outcomes) {
    if (commit !== undefined)
      landed.set(commit, landed.get(commit) === true || ((lines?.written ?? 0) > 0 && (lines?.now ?? 0) > 0));
  }
  const reverts = await revertsOf(git, history, fileSets, landed);
  return outcomes.map((outcome) => {
    const revertedBy = reverts.get(outcome.landed ?? "");
    if (revertedBy === undefined) return outcome;
    const revertedMs = history.timeOf(history.landingOf(revertedBy) ?? revertedBy);
    return { ...outcome, fate: "reverted", revertedBy, ...(revertedMs !== undefined && { revertedMs }) };
  });
}
