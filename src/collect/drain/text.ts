import { whyUnsent } from "#config/config-state.ts";
import { suggest } from "#kit/suggest.ts";
import { megabytes, plural } from "#kit/text/figures.ts";
import { lockHolderText } from "#store/lock-holder.ts";
import type { DrainDeps, DrainReport, Pruned } from "./context.ts";

/** What a drain did, for the user who started it; `undefined`: another one is running. */
export function drainText(report: DrainReport | undefined, deps: DrainDeps): string {
  if (report === undefined)
    return `another drain is running and will process the queue: ${lockHolderText(deps.places.stateDir, deps.now())}\n`;
  const { loaded } = deps;
  const lines = [
    `${plural(report.files, "file")} from the inbox: ${plural(report.events, "new event")}` +
      (report.quarantined > 0 ? `, ${report.quarantined} quarantined (see ${suggest("status")})` : "") +
      (report.left > 0 ? `, ${report.left} left for the next drain` : ""),
    `${plural(report.spans, "new span")}; ` +
      (report.hasDestination
        ? `${report.sent} sent, ${report.waiting} waiting`
        : `kept in the store, ${whyUnsent("traces", loaded) ?? whyUnsent("metrics", loaded) ?? NO_ENDPOINT}`) +
      (report.rejected > 0 ? `, ${report.rejected} rejected by the backend` : "") +
      (report.dropped > 0 ? `, ${report.dropped} dropped` : ""),
    ...report.problems.map((problem) => `! ${problem}`),
    ...(report.hasDestination ? [] : loaded.errors.map((error) => `! configuration: ${error}`)),
  ];
  return `${lines.join("\n")}\n`;
}

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

// --- internal ---

const NO_ENDPOINT = `no endpoint is set (${suggest("config set otlp.endpoint <url>")})`;
