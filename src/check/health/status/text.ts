import { suggest } from "#kit/suggest.ts";
import { count, duration, localTime, megabytes, plural } from "#kit/text/figures.ts";
import { clip, type Piece, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import { VERSION } from "#kit/version.ts";
import { managedHookOf } from "#setup/registration/managed-places.ts";
import { retryInWords } from "./inbox.ts";
import { whereOf } from "./registrations.ts";
import type { Status } from "./shape.ts";

/** The status as lines: a name on the left, facts on the right, then what is broken and the remarks. */
export function* statusLines(facts: Status, terminal: Terminal, nowMs: number): Generator<string> {
  const field = function* (name: string, ...texts: readonly string[]): Generator<string> {
    for (const [index, text] of texts.entries()) {
      const before: Piece = { text: (index === 0 ? name : "").padEnd(NAME_WIDTH), style: "dim" };
      yield* wrapped(before, printable(text), terminal);
    }
  };
  yield clip(`openhook-otel ${VERSION}`, terminal.columns);
  yield "";
  yield* field("agents", ...agentLines(facts));
  yield* field("hook", hookLine(facts));
  yield* field("state", `${facts.state_dir}${facts.state_dir_exists ? "" : " (does not exist yet)"}`);
  yield* field("inbox", inboxLine(facts, nowMs));
  if (facts.inbox.quarantined > 0) yield* field("quarantine", ...quarantineLines(facts, nowMs));
  yield* field("sessions", sessionsLine(facts));
  if (facts.store.state !== "none") yield* field("store", storeLine(facts));
  if (facts.running_drain !== null) yield* field("drain", `running: ${facts.running_drain.text}`);
  yield* field("last drain", ...drainLines(facts, nowMs));
  for (const signal of ["traces", "metrics"] as const) {
    yield* field(signal, ...deliveryLines(facts.delivery[signal], signal, facts, nowMs));
  }
  if (facts.bridge.some(({ allowed }) => allowed !== null)) yield* field("bridge", bridgeLine(facts));
  yield* field("log", facts.log.exists ? facts.log.path : `${facts.log.path} (nothing logged yet)`);
  const remarks = [
    ...facts.broken.map((text): [Piece, string] => [{ text: "✗ ", style: "red" }, text]),
    ...facts.remarks.map((text): [Piece, string] => [{ text: "! ", style: "yellow" }, text]),
  ];
  if (remarks.length > 0) yield "";
  for (const [mark, text] of remarks) yield* wrapped(mark, printable(text), terminal);
}

// --- internal ---

/** Columns of the names on the left. */
const NAME_WIDTH = 13;

function agentLines({ agents }: Status): readonly string[] {
  const registered = agents.flatMap(({ title, registrations }) =>
    registrations
      .filter(({ state }) => state !== "none")
      .map((registration) => {
        const { scope, state, events } = registration;
        const path = whereOf(registration);
        if (state === "unreadable") return `${title}: unknown, because ${path} cannot be read (${scope})`;
        if (state === "gone") return `${title}: registration gone from ${path} (${scope})`;
        return `${title}: enabled in ${path} (${scope}, ${plural(events.length, "event")})`;
      }),
  );
  const managed = agents.flatMap(({ title, managed: path }) =>
    path === null ? [] : [`${title}: enabled for all users in ${path}`],
  );
  registered.push(...managed);
  if (registered.length === 0) return [`none is enabled: ${suggest("start")} finds those on this machine`];
  const others = agents.filter(
    ({ registrations, managed: path }) => path === null && registrations.every(({ state }) => state === "none"),
  );
  return [
    ...registered,
    ...(others.length === 0 ? [] : [`not enabled: ${others.map(({ title }) => title).join(", ")}`]),
  ];
}

function hookLine({ hook, agents }: Status): string {
  if (!hook.installed && agents.some(({ managed }) => managed !== null))
    return `${managedHookOf(process.platform)}, for all users`;
  if (!hook.installed) return "not installed";
  return `${hook.path}${hook.executable ? "" : " (cannot be executed)"}`;
}

function inboxLine({ inbox }: Status, nowMs: number): string {
  const queued = inbox.waiting + inbox.claimed;
  if (queued === 0) return "empty";
  const age = inbox.oldest === null ? "" : `, the oldest for ${duration(nowMs - Date.parse(inbox.oldest))}`;
  const claimed = inbox.claimed === 0 ? "" : ` (${inbox.claimed} being processed)`;
  return `${plural(queued, "event")} queued${claimed}${age}`;
}

function quarantineLines({ inbox }: Status, nowMs: number): readonly string[] {
  return [
    `${plural(inbox.quarantined, "payload")} quarantined in ${inbox.quarantine_dir}; ${retryInWords(inbox)}; to retry now: ${suggest("replay")}`,
    ...inbox.quarantine_newest.map(({ source, reason, at }) => {
      const when = at === null ? "" : `${ago(Date.parse(at), nowMs)}, `;
      return `  ${when}${source ?? "unnamed agent"}: ${reason ?? "no reason recorded"}`;
    }),
  ];
}

function sessionsLine({ store }: Status): string {
  if (store.state === "none") return "none yet";
  if (store.state !== "ok") return "cannot be read";
  return `${count(store.sessions)}${store.open === 0 ? "" : `, ${store.open} open`}`;
}

function storeLine({ sizes, self, inbox }: Status): string {
  const pruned = self.pruned_sessions === 0 ? "" : `, ${plural(self.pruned_sessions, "old session")} pruned so far`;
  const quarantine = inbox.quarantined === 0 ? "" : `, the quarantine ${megabytes(sizes.quarantine)}`;
  return `${megabytes(sizes.store)}${pruned}${quarantine}`;
}

function drainLines({ last_drain: drain }: Status, nowMs: number): readonly string[] {
  if (drain === null) return ["none yet"];
  const did = [
    `${plural(drain.files, "file")}`,
    plural(drain.events, "new event"),
    plural(drain.spans, "new span"),
    ...(drain.sent === 0 ? [] : [`${drain.sent} sent`]),
    ...(drain.rejected === 0 ? [] : [`${drain.rejected} rejected by the backend`]),
    ...(drain.quarantined === 0 ? [] : [`${drain.quarantined} quarantined`]),
    ...(drain.left === 0 ? [] : [`${drain.left} left for the next drain`]),
    ...(drain.transcript_lines_unreadable === 0
      ? []
      : [`${plural(drain.transcript_lines_unreadable, "transcript line")} could not be read`]),
  ];
  const at = Date.parse(drain.at);
  return [`${ago(at, nowMs)} (${localTime(at)}): ${did.join(", ")}`, ...drain.problems.map((line) => `! ${line}`)];
}

function deliveryLines(
  delivery: Status["delivery"]["traces"],
  signal: "traces" | "metrics",
  { outbox }: Status,
  nowMs: number,
): readonly string[] {
  const isQueued = signal === "traces" && outbox.waiting_spans > 0;
  const spans = `${count(outbox.waiting_spans)} ${outbox.waiting_spans === 1 ? "span" : "spans"}`;
  if (delivery.endpoint === null) {
    return [`${delivery.why_not_sent ?? "not sent"}${isQueued ? `; ${spans} stored locally` : ""}`];
  }
  const queued = isQueued ? `, ${spans} queued${waitedFor(outbox, nowMs)}` : "";
  const last =
    delivery.last_ok === null ? "nothing delivered yet" : `last delivery ${ago(Date.parse(delivery.last_ok), nowMs)}`;
  const notBefore =
    delivery.not_before === null
      ? ""
      : `; next attempt after ${localTime(Date.parse(delivery.not_before))}; to retry now: ${suggest("drain")}`;
  return [
    `${delivery.endpoint} (${last}${queued})`,
    ...(delivery.last_problem === null ? [] : [`! ${delivery.last_problem}${notBefore}`]),
  ];
}

function bridgeLine({ bridge }: Status): string {
  const allowed = bridge.filter(({ state }) => state === "allowed");
  const commands = allowed.flatMap((file) => file.commands);
  const [delivered, queued] = (["delivered", "queued"] as const).map((name) =>
    commands.reduce((sum, one) => sum + one[name], 0),
  );
  const where = `${plural(commands.length, "command")} in ${plural(allowed.length, "allowed file")}`;
  return `${where}, ${count(delivered)} delivered, ${count(queued)} queued; ${suggest("bridge")} lists them`;
}

/** Empty for spans that are queued for less than a minute. */
function waitedFor({ oldest }: Status["outbox"], nowMs: number): string {
  const ageMs = oldest === null ? 0 : nowMs - Date.parse(oldest);
  return ageMs < 60_000 ? "" : `, the oldest for ${duration(ageMs)}`;
}

const ago = (ms: number, nowMs: number): string => `${duration(Math.max(0, nowMs - ms))} ago`;
