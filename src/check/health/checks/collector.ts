import { suggest } from "#kit/suggest.ts";
import { duration, megabytes, plural } from "#kit/text/figures.ts";
import type { Examined } from "../facts/examined.ts";
import type { SelfStatus } from "../facts/self-telemetry.ts";
import { type Finding, inArea } from "../finding.ts";

// The program's own counters: losses, unknown names, size

/** What was processed, and what no backend has. */
export function* processedFindings({ facts: { self, last_drain } }: Examined): Generator<Finding> {
  const { ok, remark } = inArea("collector");
  const drains = total(self.drains);
  if (drains > 0) {
    const took = self.last_drain_ms === null ? "" : `; the last one took ${duration(self.last_drain_ms)}`;
    yield ok(`${plural(total(self.payloads), "payload")} processed by ${plural(drains, "drain")}${took}`);
  }
  for (const problem of last_drain?.problems ?? []) yield remark(`the last drain: ${problem}`);
  yield* droppedSpans(self);
  if (self.missing_points > 0) {
    const text = `the backend rejected ${plural(self.missing_points, "metric point")} of deltas without naming them; they are dropped, because sending all again would count the accepted ones twice: its counters are too small`;
    yield remark(
      text,
      `${suggest("config set otlp.metrics.temporality cumulative")}: the next export repairs them`,
      text,
    );
  }
  // Nothing unless this program has an error
  if (self.repaired_spans > 0) {
    const text = `${plural(self.repaired_spans, "span")} without a known parent; each was sent below its session, and its figures are complete`;
    yield remark(text, "report it: this is an error in openhook-otel", text);
  }
}

/** Events lost because of a full disk, for a month after the last one. */
export function* lostFindings({ facts, context }: Examined): Generator<Finding> {
  const { lost, lost_last } = facts.inbox;
  const ageMs = lost_last === null ? Number.POSITIVE_INFINITY : context.now() - Date.parse(lost_last);
  if (lost === 0 || ageMs > LOST_SHOWN_MS) return;
  const ago = duration(Math.max(0, ageMs));
  const text = `${plural(lost, "event")} lost because the disk of ${facts.state_dir} was full, the last one ${ago} ago; data in transcripts is still collected`;
  const todo = `free disk space there; ${suggest("prune --older-than 30d")} makes the store smaller`;
  yield inArea("collector").remark(text, todo, text);
}

/** Drains that did not finish. */
export function* unfinishedFindings({ facts: { self, last_drain } }: Examined): Generator<Finding> {
  const { failed = 0, killed = 0 } = self.drains;
  if (failed + killed === 0) return;
  const first = last_drain === null ? `${suggest("drain")} shows why: none has finished yet` : "nothing to do";
  yield inArea("collector").remark(
    `${plural(failed + killed, "drain")} did not finish (${failed} failed, ${killed} killed); later drains continue what they began, except sessions that are named here as failed`,
    failed > 0 ? "see drain.log for the reason" : first,
  );
}

/** Names that agents send and this version does not know. */
export function* driftFindings({ facts: { self } }: Examined): Generator<Finding> {
  const { ok, remark } = inArea("collector");
  for (const line of driftLines(self)) {
    const todo = "update openhook-otel; everything that it knows is still converted";
    yield remark(line, todo, `${line}: update openhook-otel`);
  }
  if (self.drift.length === 0 && total(self.drains) > 0) yield ok("agents send no unknown names");
}

/** How much the state takes on disk. */
export function* sizeFindings({ facts, loaded }: Examined): Generator<Finding> {
  const { ok, remark } = inArea("size");
  const { sizes, inbox, self } = facts;
  const pruned = self.pruned_sessions === 0 ? "" : `, ${plural(self.pruned_sessions, "session")} pruned so far`;
  const kept = `sessions stay ${loaded.config.store.retentionDays} days${pruned}`;
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

// --- internal ---

const LOST_SHOWN_MS = 30 * 24 * 3_600_000;

const LARGE_BYTES = 1_000_000_000;

const total = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0);

/** Spans dropped before a backend accepted them. */
function* droppedSpans({ dropped }: SelfStatus): Generator<Finding> {
  if (total(dropped) === 0) return;
  const what = `${plural(total(dropped), "span")} dropped before a backend accepted them`;
  const reasons = Object.entries(dropped).flatMap(([reason, spans]) => (spans > 0 ? [`${spans} ${reason}`] : []));
  yield inArea("collector").remark(
    `${what}; they stay in the store`,
    `see the outbox settings (${suggest("config")}) and what the backend refused (drain.log)`,
    `${what} (${reasons.join(", ")}); they stay in the store`,
  );
}

/** One line per agent version that sends unknown names. */
const driftLines = ({ drift }: SelfStatus): readonly string[] =>
  drift.map(({ source, version, events, fields, records, unread_usage: unread }) => {
    const what = [
      ...named("event", events),
      ...named("field", fields),
      ...named("kind of transcript record", records, "kinds of transcript records"),
    ];
    const agent = version === "unknown" ? source : `${source} ${version}`;
    const sentences = [
      ...(what.length === 0 ? [] : [`${agent} sends names that this version does not know: ${what.join("; ")}`]),
      ...named("kind of record", unread, "kinds of records").map(
        (usage) =>
          `${agent} writes token usage that this version cannot read, in ${usage}: totals with it are lower bounds`,
      ),
    ];
    return sentences.join(". ");
  });

const NAMES_SHOWN = 5;

function named(singular: string, names: readonly string[], many = `${singular}s`): readonly string[] {
  if (names.length === 0) return [];
  const plain = names.filter((name) => name !== "_other");
  const shown = plain.slice(0, NAMES_SHOWN).join(", ");
  const more = names.length - Math.min(plain.length, NAMES_SHOWN);
  const list = [shown, ...(more > 0 ? [`${more} more`] : [])].filter((text) => text !== "").join(" and ");
  return [`${plural(names.length, singular, many)} (${list})`];
}
