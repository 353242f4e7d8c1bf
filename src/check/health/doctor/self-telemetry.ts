import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import { suggest } from "#kit/suggest.ts";
import { duration, megabytes, plural } from "#kit/text/figures.ts";
import { lostRemark } from "../status/inbox.ts";
import { driftLines, droppedCount, pointsRemark, repairedRemark } from "../status/self-telemetry.ts";
import type { Status } from "../status/shape.ts";
import { type Finding, inArea } from "./finding.ts";

/** Findings from the program's own counters: losses, unknown names, size. */
export async function* selfFindings(
  { self, sizes, inbox, last_drain, state_dir }: Status,
  context: Context,
): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("collector");
  const total = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);
  const drains = total(self.drains);
  if (drains > 0) {
    const took = self.last_drain_ms === null ? "" : `; the last one took ${duration(self.last_drain_ms)}`;
    yield ok(`${plural(total(self.payloads), "payload")} processed by ${plural(drains, "drain")}${took}`);
  }
  for (const problem of last_drain?.problems ?? []) yield remark(`the last drain: ${problem}`);
  const dropped = droppedCount(self);
  if (dropped > 0) {
    yield remark(
      `${plural(dropped, "span")} dropped before a backend accepted them; they stay in the store`,
      `see the outbox settings (${suggest("config")}) and what the backend refused (drain.log)`,
    );
  }
  for (const line of pointsRemark(self)) {
    yield remark(line, `${suggest("config set otlp.metrics.temporality cumulative")}: the next export repairs them`);
  }
  for (const line of repairedRemark(self)) yield remark(line, "report it: this is an error in openhook-otel");
  const lost = lostRemark(inbox, state_dir, context.now());
  if (lost !== undefined)
    yield remark(lost, `free disk space there; ${suggest("prune --older-than 30d")} makes the store smaller`);
  const { failed = 0, killed = 0 } = self.drains;
  if (failed + killed > 0) {
    yield remark(
      `${plural(failed + killed, "drain")} did not finish (${failed} failed, ${killed} killed); later drains continue what they began, except sessions that are named here as failed`,
      failed > 0
        ? "see drain.log for the reason"
        : last_drain === null
          ? `${suggest("drain")} shows why: none has finished yet`
          : "nothing to do",
    );
  }
  for (const line of driftLines(self)) {
    yield remark(line, "update openhook-otel; everything that it knows is still converted");
  }
  if (self.drift.length === 0 && drains > 0) yield ok("agents send no unknown names");
  yield* sizeFindings({ sizes, inbox, self }, context);
}

// --- internal ---

const LARGE_BYTES = 1_000_000_000;

async function* sizeFindings(
  { sizes, inbox, self }: Pick<Status, "sizes" | "inbox" | "self">,
  context: Context,
): AsyncGenerator<Finding> {
  const { ok, remark } = inArea("size");
  const { config } = await loadConfig(context);
  const pruned = self.pruned_sessions === 0 ? "" : `, ${plural(self.pruned_sessions, "session")} pruned so far`;
  const kept = `sessions stay ${config.store.retentionDays} days${pruned}`;
  if (sizes.store >= LARGE_BYTES) {
    yield remark(
      `the store takes ${megabytes(sizes.store)}; ${kept}`,
      `${suggest("prune --older-than 30d")}, or a smaller store.retentionDays`,
    );
  } else yield ok(`the store takes ${megabytes(sizes.store)}; ${kept}`);
  if (inbox.quarantined > 0) {
    yield ok(
      `the quarantine takes ${megabytes(sizes.quarantine)}; ${suggest("prune --quarantine")} removes old payloads`,
    );
  }
  for (const { path, bytes } of sizes.damaged) {
    const text = `the damaged store ${path} takes ${megabytes(bytes)}`;
    // Without a time in its name it was moved aside by a run that could not read it
    if (path.endsWith(".damaged")) yield remark(`${text}, and nothing was recovered from it yet`, suggest("drain"));
    else yield ok(text);
  }
}
