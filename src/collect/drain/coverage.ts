import { statSync } from "node:fs";
import type { Attributes } from "#core/model/telemetry.ts";
import { COVERAGES, type Coverage } from "#core/telemetry/self.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { messageOf } from "#kit/error-message.ts";
import { reportProblemOnce } from "#store/capture/report-problem.ts";
import { readMeta, writeMeta } from "#store/meta.ts";
import { COVERAGE } from "#store/meta-keys.ts";
import type { Drain } from "./context.ts";

/**
 * For each agent that is used on this machine, 1 for the coverage that it has and 0 for the others. An agent that was used once and is
 * not any more has 0 for all, because backends keep a series' last value.
 *
 * Looking at all agents' settings and transcripts takes longer than a drain, so the result is kept for an hour, or until `enable` or
 * `disable` changes a registration.
 */
export async function coverageCounts(drain: Drain): Promise<readonly (readonly [Attributes, number])[]> {
  const known = JSON.parse(readMeta(drain.db, COVERAGE) ?? "null") as Kept | null;
  const changedMs = registrationsChangedMs(drain);
  const isCurrent = known !== null && known.changedMs === changedMs && Math.abs(drain.now() - known.atMs) < KEPT_MS;
  const states = isCurrent ? known.states : await determined(drain, known?.states ?? {});
  if (!isCurrent) writeMeta(drain.db, COVERAGE, JSON.stringify({ atMs: drain.now(), changedMs, states }));
  return Object.entries(states).flatMap(([source, state]) =>
    COVERAGES.map(
      (one) =>
        [{ [semconv.OPENHOOK_SOURCE]: source, [semconv.OPENHOOK_COVERAGE]: one }, one === state ? 1 : 0] as const,
    ),
  );
}

// --- internal ---

const KEPT_MS = 3_600_000;

interface Kept {
  readonly atMs: number;
  readonly changedMs: number;
  readonly states: States;
}
/** By source; `null`: not used, or unknown. */
type States = Readonly<Record<string, Coverage | null>>;

/** `enable` and `disable` write a record of each registration. */
const registrationsChangedMs = ({ places }: Drain): number =>
  statSync(places.backupDir, { throwIfNoEntry: false })?.mtimeMs ?? 0;

async function determined(drain: Drain, before: States): Promise<States> {
  const forgotten = Object.fromEntries(Object.keys(before).map((source) => [source, null]));
  try {
    // Not the folder of the session that started this drain: which project it is must not matter
    const observed = { ...drain, cwd: drain.places.home, env: drain.env ?? {} };
    return { ...forgotten, ...Object.fromEntries((await drain.coverageOf?.(observed)) ?? []) };
  } catch (error) {
    reportProblemOnce(drain, `coverage: which agents are collected is unknown: ${messageOf(error)}`);
    return forgotten;
  }
}
