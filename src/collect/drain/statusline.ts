import { readFileIfAny, writeFileAtomic } from "#config/files.ts";
import { RATE_WINDOWS } from "#core/model/rate-limit.ts";
import { messageOf } from "#kit/errors.ts";
import { step } from "#kit/fault-points.ts";
import { summaryPath, summaryText } from "#show/statusline/summary.ts";
import type { Drain } from "./context.ts";
import { rateLimits } from "./rate-limits.ts";

/**
 * Writes what status lines show, if one was set up. Before sending, because a backend can take long to answer. A failure is logged
 * and changes nothing else.
 */
export async function writeStatusLine(drain: Drain): Promise<void> {
  const path = summaryPath(drain.places.stateDir);
  try {
    if ((await readFileIfAny(path)) === undefined) return;
    const { figuresOf } = await import("#show/statusline/figures.ts");
    const nowMs = drain.now();
    const figures = figuresOf(drain.db, drain.agents, nowMs, drain.loaded.config.budget.month);
    const limits = (await rateLimits(drain)).map(({ window, ...limit }) => ({ label: RATE_WINDOWS[window], ...limit }));
    const text = summaryText({ atMs: nowMs, ...figures, limits });
    await step("statusline.write", () => writeFileAtomic(path, text));
  } catch (error) {
    drain.log(`the status line was not updated: ${messageOf(error)}`);
  }
}
