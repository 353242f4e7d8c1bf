import { digestOf } from "#kit/digest.ts";
import type { Certainty, ChangeKind, StoredChange, StoredCommit } from "../model/changes.ts";
import { type CommitOutcome, KEPT_AFTER_DAYS } from "../model/outcomes.ts";
import type { Attributes, AttributeValue, Counted, Increment, MetricShape } from "../model/telemetry.ts";
import * as semconv from "./semconv.ts";
import { SHAPES } from "./shapes.ts";

/** The session that something is counted for. */
export interface CountedFor {
  readonly source: string;
  readonly sessionId: string;
  /** Name of the repository. Absent: unknown. */
  readonly repository?: string;
}

/** The key under which a session's commit is counted. */
export const commitCountKey = ({ source, sessionId }: CountedFor, key: string, certainty: Certainty): string =>
  JSON.stringify([source, sessionId, certainty, key]);

/**
 * The count of one commit.
 *
 * @param before the session that it was counted for while it was only inferred; one is deducted there
 */
export const commitCounts = (by: CountedFor, key: string, certainty: Certainty, before?: CountedFor): Counted => ({
  key: commitCountKey(by, key, certainty),
  increments: [
    step(SHAPES.commits, 1, by, { [semconv.OPENHOOK_CERTAINTY]: certainty }),
    ...(before === undefined ? [] : [step(SHAPES.commits, -1, before, { [semconv.OPENHOOK_CERTAINTY]: "inferred" })]),
  ],
});

/**
 * What became of a commit, as counts. Only what happened is counted, each once: a commit that was merged and then reverted counts as
 * merged and as reverted. See docs/decisions/0045.
 */
export function fateCounts(by: CountedFor, certainty: Certainty, outcome: CommitOutcome): readonly Counted[] {
  const { id = outcome.commit, fate, lines, landedMs, revertedMs } = outcome;
  const known = { [semconv.OPENHOOK_CERTAINTY]: certainty };
  const reached =
    fate === "reverted" ? (["merged", "reverted"] as const) : fate === "merged" || fate === "gone" ? [fate] : [];
  const fates = reached.map((one) => ({
    key: keyOf("commit", one, id),
    increments: [step(SHAPES.commitFates, 1, by, { ...known, [semconv.OPENHOOK_COMMIT_FATE]: one })],
  }));
  const ages = KEPT_AFTER_DAYS.flatMap((days): readonly Counted[] => {
    const kept = lines?.after[days];
    if (lines === undefined || kept === undefined) return [];
    const isReverted = landedMs !== undefined && revertedMs !== undefined && revertedMs <= landedMs + days * DAY_MS;
    const amounts = { kept, [isReverted ? "reverted" : "reworked"]: lines.written - kept };
    const increments = Object.entries(amounts).flatMap(([one, amount]) =>
      amount <= 0
        ? []
        : [
            step(SHAPES.commitLines, amount, by, {
              ...known,
              [semconv.OPENHOOK_LINE_FATE]: one,
              [semconv.OPENHOOK_LINE_AGE]: days,
            }),
          ],
    );
    return [{ key: keyOf("commit", `lines ${days}`, id), increments }];
  });
  return [...fates, ...ages];
}

/** What a pull request, issue, ticket or branch adds: one, for the session that is known to have worked on it first. */
export const changeCounts = (
  by: CountedFor,
  {
    changeKind,
    isCreated,
    identity,
  }: { readonly changeKind: ChangeKind; readonly isCreated: boolean; readonly identity: string },
): Counted => ({
  key: keyOf("change", changeKind, identity),
  increments: [
    step(SHAPES.changes, 1, by, {
      [semconv.OPENHOOK_CHANGE_KIND]: changeKind,
      [semconv.OPENHOOK_CHANGE_CREATED]: isCreated,
    }),
  ],
});

/** What a branch adds when it is known to be merged: one, also if a pull request was created for it. */
export const mergedChangeCounts = (by: CountedFor, changeKind: ChangeKind, identity: string): Counted => ({
  key: keyOf("change", "merged", identity),
  increments: [step(SHAPES.mergedChanges, 1, by, { [semconv.OPENHOOK_CHANGE_KIND]: changeKind })],
});

/** The commit and the pull request that the span of a turn or session names as its result. */
export interface LedTo {
  /** The last commit that was observed in it, with all digits. */
  readonly revision?: string;
  /** The number of the pull request that it created. */
  readonly changeId?: string;
}

/**
 * What was observed between two times of a session, in the session's repository. The conventions allow one value of each, so a span
 * names no pull request if there were two.
 */
export function ledToIn(
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
  commits: readonly StoredCommit[],
  changes: readonly StoredChange[],
): LedTo {
  const isInside = ({ certainty, isElsewhere, timeMs }: StoredCommit | StoredChange): boolean =>
    certainty === "observed" && isElsewhere !== true && timeMs >= startMs && timeMs <= endMs;
  const revision = commits.findLast((one) => isInside(one) && one.commit.length >= FULL)?.commit;
  const created = changes.filter((one) => isInside(one) && one.changeKind === "pull_request" && one.isCreated === true);
  const ids = new Set(created.map(({ change }) => change));
  const [changeId] = ids;
  return {
    ...(revision !== undefined && { revision }),
    ...(ids.size === 1 && changeId !== undefined && { changeId }),
  };
}

// --- internal ---

const DAY_MS = 86_400_000;

/**
 * The key belongs to no session, so it stays when sessions are pruned. It may stay, because it contains no id or name.
 */
const keyOf = (subject: "commit" | "change", what: string, identity: string): string =>
  `${subject} ${what} ${digestOf(what, identity).toString(36)}`;

const step = (
  shape: MetricShape,
  amount: number,
  { source, repository }: CountedFor,
  attributes: Readonly<Record<string, AttributeValue>>,
): Increment => ({
  metric: shape.name,
  amount,
  attributes: {
    ...attributes,
    ...(repository !== undefined && { [semconv.VCS_REPOSITORY_NAME]: repository }),
  } satisfies Attributes,
  resource: { [semconv.SERVICE_NAME]: source },
});

/** git prints the first digits only; the log of HEAD has all of them. */
const FULL = 40;
