import { readFileIfAny, writeFileAtomic } from "../config/files.ts";
import { messageOf } from "../model/error-message.ts";
import { step } from "../model/fault-points.ts";
import { parseLimits, reportedLimitsPath } from "../statusline/limits.ts";
import { type NamedLimit, summaryPath, summaryText } from "../statusline/summary.ts";
import type { Drain } from "./context.ts";

/**
 * Writes what status lines show, if one was set up. Before sending, because a backend can take long to answer. A failure is logged
 * and changes nothing else.
 */
export async function writeStatusLine(drain: Drain): Promise<void> {
  const path = summaryPath(drain.places.stateDir);
  try {
    if ((await readFileIfAny(path)) === undefined) return;
    const { figuresOf } = await import("../statusline/figures.ts");
    const nowMs = drain.now();
    const figures = figuresOf(drain.db, drain.agents, nowMs);
    const text = summaryText({ atMs: nowMs, ...figures, limits: await limitsOf(drain) });
    await step("statusline.write", () => writeFileAtomic(path, text));
  } catch (error) {
    drain.log(`the status line was not updated: ${messageOf(error)}`);
  }
}

// --- internal ---

const LABELS = { five_hour: "5h", seven_day: "7d" } as const;

async function limitsOf({ agents, places }: Drain): Promise<readonly NamedLimit[]> {
  const found = await Promise.all(
    agents.map(async ({ source }) => {
      const text = await readFileIfAny(reportedLimitsPath(places.stateDir, source));
      return parseLimits(text?.toString("latin1") ?? "").map(
        ({ window, ...limit }): NamedLimit => ({ agent: source, label: LABELS[window], ...limit }),
      );
    }),
  );
  return found.flat();
}
