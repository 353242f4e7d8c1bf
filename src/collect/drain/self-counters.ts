import type { Increment } from "#core/model/telemetry.ts";
import { quarantineCategory, SELF, selfIncrement } from "#core/telemetry/self.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { addSteps } from "#store/counters.ts";
import type { LockStep } from "#store/lock-holder.ts";
import { LAST_DRAIN_MS, readMeta, removeMeta, writeMeta } from "#store/meta.ts";
import { addDrift, lastVersionOf } from "#store/self.ts";
import type { UnknownNames } from "../payload/drift.ts";
import type { Drain } from "./context.ts";

// The program's own counters: payloads, events, transcript lines, unknown names, drains

/**
 * Counts one payload.
 *
 * @param source of the card that recognised it, otherwise from the command line; counted as `unknown` if there is no such agent
 * @param reason why it was quarantined, or the event that is not needed
 */
export const payloadIncrement = (
  drain: Pick<Drain, "agents">,
  outcome: "converted" | "ignored" | "quarantined",
  source: string | undefined,
  reason?: string,
): Increment =>
  selfIncrement(SELF.payloads, 1, {
    [semconv.OPENHOOK_SOURCE]: drain.agents.some((agent) => agent.source === source) ? source : "unknown",
    [semconv.OPENHOOK_OUTCOME]: outcome,
    [semconv.OPENHOOK_REASON]: outcome === "quarantined" ? quarantineCategory(reason ?? "") : reason,
  });

/** Counts new events. @param source of the card that read them: an event itself can name any source */
export const eventIncrement = (source: string, events: number): Increment =>
  selfIncrement(SELF.events, events, { [semconv.OPENHOOK_SOURCE]: source });

/** Adds to the program's own counters, in the commit of the facts they count. Increments of zero are left out. */
export const recordSelf = (drain: Drain, steps: readonly Increment[]): void =>
  addSteps(
    drain.db,
    steps.filter(({ amount }) => amount > 0),
    METRIC_SHAPES,
    drain.now(),
  );

/**
 * Stores and counts unknown names, in the commit of the payload they were in.
 *
 * @param version of the agent. @default its last known version
 */
export function recordUnknownNames(drain: Drain, source: string, unknown: UnknownNames, version?: string): void {
  if (unknown.size === 0) return;
  addDrift(drain.db, source, version ?? lastVersionOf(drain.db, source), unknown, drain.now());
  const byKind = new Map<string, number>();
  for (const { kind, count } of unknown.values()) byKind.set(kind, (byKind.get(kind) ?? 0) + count);
  recordSelf(
    drain,
    [...byKind].map(([kind, count]) =>
      selfIncrement(SELF.drift, count, { [semconv.OPENHOOK_SOURCE]: source, [semconv.OPENHOOK_DRIFT_KIND]: kind }),
    ),
  );
}

/** Counts the lines of one transcript. */
export const lineIncrements = (source: string, read: number, unreadable: number): readonly Increment[] =>
  (
    [
      ["understood", read],
      ["unreadable", unreadable],
    ] as const
  ).map(([outcome, lines]) =>
    selfIncrement(SELF.lines, lines, { [semconv.OPENHOOK_SOURCE]: source, [semconv.OPENHOOK_OUTCOME]: outcome }),
  );

/**
 * Counts how a drain ends and how long it took; the next delivery sends these figures. If a drain is killed, the next one counts
 * it.
 *
 * @throws what the work throws
 */
export async function measureDrain(drain: Drain, work: () => Promise<void>): Promise<void> {
  const { db, now } = drain;
  const startMs = performance.now();
  db.transaction(() => {
    if (readMeta(db, DRAIN_START) !== undefined)
      addSteps(db, [drainIncrement("killed", drain.diedAt)], METRIC_SHAPES, now());
    writeMeta(db, DRAIN_START, String(now()));
  });
  const end = (outcome: "ok" | "failed"): void =>
    db.transaction(() => {
      const durationMs = Math.round(performance.now() - startMs);
      removeMeta(db, DRAIN_START);
      addSteps(
        db,
        [drainIncrement(outcome), selfIncrement(SELF.drainDuration, durationMs / 1000)],
        METRIC_SHAPES,
        now(),
      );
      writeMeta(db, LAST_DRAIN_MS, String(durationMs));
    });
  try {
    await work();
  } catch (error) {
    try {
      end("failed");
    } catch {
      // The store itself failed: the next drain counts this one as killed
    }
    throw error;
  }
  end("ok");
}

// --- internal ---

const DRAIN_START = "drain.began_ms";

/** @param diedAt the step at which a drain was killed */
const drainIncrement = (outcome: "ok" | "failed" | "killed", diedAt?: LockStep): Increment =>
  selfIncrement(SELF.drains, 1, { [semconv.OPENHOOK_OUTCOME]: outcome, [semconv.OPENHOOK_REASON]: diedAt });
