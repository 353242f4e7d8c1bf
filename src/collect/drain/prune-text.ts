import { megabytes, plural } from "#kit/text/figures.ts";
import type { Pruned } from "./pruned.ts";

/** What was removed, and the size of the store in bytes before and after. */
export function* prunedLines(pruned: Pruned, quarantine: boolean, before: number, after: number): Generator<string> {
  yield `${plural(pruned.sessions, "session")} removed from the store${keptText(pruned.kept)}`;
  if (quarantine) yield `${plural(pruned.quarantined, "quarantined payload")} removed`;
  yield `store size: ${megabytes(after)}, before ${megabytes(before)}`;
}

/** Old sessions that stay, and why; empty if there are none. */
export const keptText = (kept: number): string =>
  kept === 0
    ? ""
    : `; ${plural(kept, "session")} of that age ${kept === 1 ? "stays" : "stay"}: not sent yet, or not ended`;
