import { UserError } from "#kit/errors.ts";
import { lockHolderText } from "#store/lock-holder.ts";
import type { DrainDeps } from "../drain/context.ts";

/** Repeats work that returns `undefined` while another drain holds the lock. @throws UserError after a minute */
export async function whenNoDrain<T>(deps: DrainDeps, work: () => Promise<T | undefined>): Promise<T> {
  const untilMs = deps.now() + OTHER_DRAIN_MS;
  for (;;) {
    const report = await work();
    if (report !== undefined) return report;
    if (deps.now() >= untilMs) {
      const who = lockHolderText(deps.places.stateDir, deps.now());
      const text = `another drain has been running for a minute (${who}); try again when it has finished`;
      throw new UserError("E_BUSY", text, 1);
    }
    await deps.sleep(RETRY_MS);
  }
}

// --- internal ---

/** A drain that a hook started usually finishes within a second. */
const OTHER_DRAIN_MS = 60_000;
const RETRY_MS = 100;
