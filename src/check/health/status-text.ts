import type { OtlpSignal } from "#core/model/settings.ts";
import { suggest } from "#kit/suggest.ts";
import { count, duration, localTime, megabytes, plural } from "#kit/text/figures.ts";
import { clip, type Piece, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import { VERSION } from "#kit/version.ts";
import { managedHookOf } from "#setup/registration/managed-places.ts";
import { whereOf } from "./facts/hook.ts";
import { retryInWords } from "./facts/inbox.ts";
import type { Status } from "./facts/shape.ts";

/** The status as lines: a name on the left, facts on the right, then what is broken and the remarks. */
export function* statusLines(facts: Status, terminal: Terminal, nowMs: number): Generator<string> {
  yield clip(`openhook-otel ${VERSION}`, terminal.columns);
  yield "";
  for (const [name, ...texts] of fieldsOf(facts, nowMs)) {
    for (const [index, text] of texts.entries()) {
      const before: Piece = { text: (index === 0 ? name : "").padEnd(NAME_WIDTH), style: "dim" };
      yield* wrapped(before, printable(text), terminal);
    }
  }
  if (facts.broken.length + facts.remarks.length > 0) yield "";
  for (const text of facts.broken) yield* wrapped({ text: "✗ ", style: "red" }, printable(text), terminal);
  for (const text of facts.remarks) yield* wrapped({ text: "! ", style: "yellow" }, printable(text), terminal);
}

// --- internal ---

/** Columns of the names on the left. */
const NAME_WIDTH = 13;

/** Each name with the lines on its right; without lines it is not shown. */
const fieldsOf = (facts: Status, nowMs: number): readonly (readonly [name: string, ...lines: readonly string[]])[] => [
  ["agents", ...agentLines(facts)],
  ["hook", hookLine(facts)],
  ["state", `${facts.state_dir}${facts.state_dir_exists ? "" : " (does not exist yet)"}`],
  ["inbox", inboxLine(facts, nowMs)],
  ["quarantine", ...quarantineLines(facts, nowMs)],
  ["sessions", sessionsLine(facts)],
  ["store", ...storeLines(facts)],
  ["drain", ...(facts.running_drain === null ? [] : [`running: ${facts.running_drain.text}`])],
  ["last drain", ...drainLines(facts, nowMs)],
  ["traces", ...deliveryLines("traces", facts, nowMs)],
  ["metrics", ...deliveryLines("metrics", facts, nowMs)],
  ["logs", ...logLines(facts, nowMs)],
  ["bridge", ...bridgeLines(facts)],
  ["log", facts.log.exists ? facts.log.path : `${facts.log.path} (nothing logged yet)`],
];

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
  if (inbox.quarantined === 0) return [];
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

function storeLines({ store, sizes, self, inbox }: Status): readonly string[] {
  if (store.state === "none") return [];
  const pruned = self.pruned_sessions === 0 ? "" : `, ${plural(self.pruned_sessions, "old session")} pruned so far`;
  const quarantine = inbox.quarantined === 0 ? "" : `, the quarantine ${megabytes(sizes.quarantine)}`;
  return [`${megabytes(sizes.store)}${pruned}${quarantine}`];
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
  const ms = Date.parse(drain.at);
  return [`${ago(ms, nowMs)} (${localTime(ms)}): ${did.join(", ")}`, ...drain.problems.map((line) => `! ${line}`)];
}

/** Nothing as long as nobody wants log records. */
function logLines(facts: Status, nowMs: number): readonly string[] {
  const { waiting, dropped, rejected } = facts.log_outbox;
  if (facts.delivery.logs.endpoint === null && waiting === 0) return [];
  const lost = [
    ...(dropped === 0 ? [] : [`${plural(dropped, "record")} dropped from the queue so far`]),
    ...(rejected === 0 ? [] : [`${plural(rejected, "record")} rejected by the backend so far`]),
  ];
  return [...deliveryLines("logs", facts, nowMs), ...(lost.length === 0 ? [] : [`! ${lost.join(", ")}`])];
}

function deliveryLines(
  signal: OtlpSignal,
  { delivery: deliveries, outbox: spanQueue, log_outbox: logQueue }: Status,
  nowMs: number,
): readonly string[] {
  const delivery = deliveries[signal];
  const outbox = signal === "logs" ? logQueue : spanQueue;
  const waiting = signal === "logs" ? logQueue.waiting : signal === "traces" ? spanQueue.waiting_spans : 0;
  const isQueued = waiting > 0;
  const noun = signal === "logs" ? "log record" : "span";
  const spans = `${count(waiting)} ${noun}${waiting === 1 ? "" : "s"}`;
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

function bridgeLines({ bridge }: Status): readonly string[] {
  if (bridge.every((file) => file.allowed === null)) return [];
  const allowed = bridge.filter(({ state }) => state === "allowed");
  const commands = allowed.flatMap((file) => file.commands);
  const [delivered, queued] = (["delivered", "queued"] as const).map((name) =>
    commands.reduce((sum, command) => sum + command[name], 0),
  );
  const where = `${plural(commands.length, "command")} in ${plural(allowed.length, "allowed file")}`;
  return [`${where}, ${count(delivered)} delivered, ${count(queued)} queued; ${suggest("bridge")} lists them`];
}

/** Empty for spans that are queued for less than a minute. */
function waitedFor({ oldest }: Pick<Status["outbox"], "oldest">, nowMs: number): string {
  const ageMs = oldest === null ? 0 : nowMs - Date.parse(oldest);
  return ageMs < 60_000 ? "" : `, the oldest for ${duration(ageMs)}`;
}

const ago = (ms: number, nowMs: number): string => `${duration(Math.max(0, nowMs - ms))} ago`;
