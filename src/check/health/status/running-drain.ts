import type { Context } from "#config/context.ts";
import { holderText, lockOf, runningHolder } from "#store/lock-holder.ts";
import type { RunningDrain } from "./shape.ts";

/** The process that holds the drain's lock; `null` if there is none. */
export function runningDrain({ places, now }: Pick<Context, "places" | "now">): RunningDrain | null {
  const holder = runningHolder(lockOf(places.stateDir));
  if (holder === undefined) return null;
  const { pid, host, sinceMs, step, stepMs, beatMs, files, isStopped } = holder;
  const [since, stepSince, beat] = [sinceMs, stepMs, beatMs].map((ms) => new Date(ms).toISOString());
  return {
    ...{
      pid,
      host: host.split(" ")[0] ?? "",
      since: since ?? "",
      step,
      step_since: stepSince ?? "",
      files,
      beat: beat ?? "",
    },
    stopped: isStopped,
    text: holderText(holder, now()),
    slow: isStopped || now() - stepMs > SLOW_MS || now() - beatMs > SLOW_MS,
  };
}

// --- internal ---

/** No step of a usual drain takes that long without a note. */
const SLOW_MS = 10_000;
