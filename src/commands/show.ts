import { allAgents } from "../agents/registry.ts";
import { loadConfig } from "../config/load.ts";
import { type Context, UserError } from "../context.ts";
import type { Agent } from "../model/agent.ts";
import { cardOf } from "../model/card-of.ts";
import type { Envelope } from "../model/envelope.ts";
import { ENVELOPE_TYPES } from "../model/envelope-types.ts";
import { isEnvelope, timeMsOf } from "../model/event.ts";
import type { Segment } from "../model/session.ts";
import { jsonParts } from "../report/session-json.ts";
import { activeMs, hasUsage, type SessionView, viewOf } from "../report/session-view.ts";
import { waterfall } from "../report/waterfall/waterfall.ts";
import { chosenSession } from "../sessions/find-session.ts";
import { noStoreMessage, withOpenStore } from "../sessions/open-store.ts";
import { spanSettings } from "../sessions/span-settings.ts";
import type { Database } from "../store/database.ts";
import { eventsOf } from "../store/facts.ts";
import { settledSpans } from "../store/queries.ts";
import type { StoredSession } from "../store/sessions.ts";
import type { SpanSettings } from "../telemetry/spans.ts";
import { printLines } from "../text/ascii.ts";
import { count, dollars, duration, localTime, plural, pricelessOf } from "../text/figures.ts";
import { flow, type Piece, printable, type Terminal, terminalOf, writeLines } from "../text/terminal.ts";

export interface ShowOptions {
  /** One JSON document. */
  readonly json: boolean;
  /** The session's OpenHook envelopes, one JSON line each. */
  readonly envelopes: boolean;
}

/**
 * `openhook-otel show`: a session as a waterfall, from what was or will be delivered. Each segment has its own time axis.
 *
 * @param session id, the beginning of one, or `<source>/<id>`; without it the one with the latest activity
 * @returns exit code: 0
 * @throws UserError when there is no such session, or more than one, or nothing at all yet
 */
export async function show(session: string | undefined, options: ShowOptions, context: Context): Promise<number> {
  if (options.json && options.envelopes) throw new UserError("E_USAGE", "choose one of --json and --envelopes");
  const [agents, loaded] = await Promise.all([allAgents(), loadConfig(context)]);
  const settings = spanSettings({ loaded });
  const found = withOpenStore(context, (db) => {
    const stored = chosenSession(db, session);
    if (stored === undefined) return false;
    if (options.envelopes) writeLines(context.stdout, envelopeLines(db, stored));
    else if (options.json)
      for (const part of jsonParts(db, viewOf(db, stored, { agents }, settings))) context.stdout.write(part);
    else printLines(context, inWords(db, stored, agents, settings, terminalOf(context)));
    return true;
  });
  if (found !== true) throw new UserError("E_EMPTY", await noStoreMessage(context), 1);
  return 0;
}

// --- internal ---

function* envelopeLines(db: Database, stored: StoredSession): Generator<string> {
  const rank = (envelope: Envelope): number => ENVELOPE_TYPES.indexOf(envelope.type);
  const envelopes = eventsOf(db, stored.id).filter(isEnvelope);
  for (const envelope of envelopes.sort((a, b) => timeMsOf(a) - timeMsOf(b) || rank(a) - rank(b))) {
    yield JSON.stringify(envelope);
  }
}

function* inWords(
  db: Database,
  stored: StoredSession,
  agents: readonly Agent[],
  settings: SpanSettings,
  terminal: Terminal,
): Generator<string> {
  const view = viewOf(db, stored, { agents }, settings);
  const title = cardOf({ agents }, stored.source)?.title ?? stored.source;
  yield* flow(identity(view, title), terminal);
  yield* flow(life(view), terminal);
  yield* flow(totals(view), terminal);
  yield* flow(ownBooks(view), terminal);
  let turnsBefore = 0;
  for (const segment of view.segments) {
    yield "";
    if (view.segments.length > 1) yield* flow(segmentTitle(segment, view.segments.length), terminal);
    const settled = settledSpans(db, stored.id, segment.ordinal).map((record) => ({ record }));
    const open = view.openSpans.filter((span) => span.segment === segment.ordinal);
    yield* waterfall([...settled, ...open], terminal, turnsBefore);
    turnsBefore += view.turnList.filter((turn) => turn.segment === segment.ordinal && isAsked(turn.origin)).length;
  }
  if (view.segments.length === 0) {
    yield "";
    yield* flow([[{ text: "nothing has happened in it yet", style: "dim" }]], terminal);
  }
}

const isAsked = (origin: string): boolean => origin === "human" || origin === "machine";

type Part = readonly Piece[];
const plain = (text: string): Part => [{ text }];

function identity({ stored, facts }: SessionView, title: string): readonly Part[] {
  const { repository } = facts;
  const branch = repository?.branch === undefined ? "" : `@${repository.branch}`;
  const version = stored.agentVersion === undefined ? "" : ` ${stored.agentVersion}`;
  return [
    [{ text: printable(title), style: "bold" }, { text: printable(version) }],
    ...(repository === undefined ? [] : [plain(printable(`${repository.name}${branch}`))]),
    plain(printable(stored.sessionId)),
  ];
}

function life({ stored, segments }: SessionView): readonly Part[] {
  const last = segments.at(-1);
  return [
    plain(`started ${localTime(segments[0]?.startMs ?? stored.firstMs)}`),
    plain(duration(activeMs(segments))),
    last === undefined ? plain("open") : ending(last),
  ];
}

function ending({ endMs, reason, nativeReason }: Segment): Part {
  if (endMs === undefined) return [{ text: "open", style: "cyan" }];
  const native = nativeReason === undefined || nativeReason === reason ? "" : ` (${printable(nativeReason)})`;
  const text = `${reason ?? "ended"}${native}`;
  return [reason === "error" ? { text, style: "red" } : { text }];
}

function totals({ turns, subagents, sums, tools, facts }: SessionView): readonly Part[] {
  const toolCalls = [...tools.values()].reduce((a, b) => a + b, 0);
  const marked = (["error", "denied", "unfinished", "open"] as const).flatMap((status) => {
    const n = tools.get(status) ?? 0;
    return n === 0 ? [] : [`${n} ${status === "error" ? "failed" : status}`];
  });
  return [
    plain(plural(turns, "turn")),
    ...(sums.modelCalls === 0 && (sums.sumsTold > 0 || facts.usageUnknown === true)
      ? []
      : [plain(plural(sums.modelCalls, "model call"))]),
    plain(`${plural(toolCalls, "tool call")}${marked.length === 0 ? "" : ` (${marked.join(", ")})`}`),
    ...(subagents === 0 ? [] : [plain(plural(subagents, "subagent"))]),
    ...(hasUsage(sums)
      ? [...tokens(sums), plain(costInWords(sums))]
      : facts.usageUnknown === true
        ? [plain("tokens unknown")]
        : []),
  ];
}

function tokens(sums: SessionView["sums"]): readonly Part[] {
  if (sums.input === undefined && sums.output === undefined) return [plain("tokens unknown")];
  const share = (part: number | undefined, name: string): readonly string[] =>
    part === undefined || part === 0 || !sums.input ? [] : [`${name} ${Math.round((part / sums.input) * 100)}%`];
  const cache = [...share(sums.cacheRead, "cache read"), ...share(sums.cacheWrite, "cache write")].join(", ");
  const isLeastInput = sums.callsWithoutUsage > 0;
  const isLeastOutput = isLeastInput || sums.incompleteCalls > 0;
  return [
    plain(`in ${isLeastInput ? "≥ " : ""}${count(sums.input)}${cache === "" ? "" : ` (${cache})`}`),
    plain(`out ${isLeastOutput ? "≥ " : ""}${count(sums.output)}`),
  ];
}

/** `$1.20`, `≥ $1.20 (2 calls unpriced)`, `cost unknown`. */
function costInWords(sums: SessionView["sums"]): string {
  const { costNanoUsd, unpricedCalls, incompleteCalls } = sums;
  if (costNanoUsd === undefined) return "cost unknown";
  const priceless = pricelessOf(sums);
  const unpriced = priceless === 0 ? "" : ` (${plural(priceless, "call")} unpriced)`;
  return `${unpricedCalls + incompleteCalls > 0 ? "≥ " : ""}${dollars(costNanoUsd)}${unpriced}`;
}

/** Side requests of the agent stand in its own books alone: shown apart, and only where they tell something else. */
function ownBooks({ reported, sums }: SessionView): readonly Part[] {
  if (reported === undefined) return [];
  const all = Object.values(reported);
  const sum = (pick: (usage: (typeof all)[number]) => number | undefined): number =>
    all.reduce((n, usage) => n + (pick(usage) ?? 0), 0);
  const [input, output] = [sum((usage) => usage.input), sum((usage) => usage.output)];
  const cost = all.some((usage) => usage.costUsd !== undefined) ? sum((usage) => usage.costUsd) * 1e9 : undefined;
  const costText = cost === undefined || cost === 0 ? undefined : dollars(cost);
  const isSameCost =
    costText === undefined || (sums.costNanoUsd !== undefined && costText === dollars(sums.costNanoUsd));
  if (input === (sums.input ?? 0) && output === (sums.output ?? 0) && isSameCost) return [];
  return [
    [{ text: "the agent's own books:", style: "dim" }, { text: ` in ${count(input)}` }],
    plain(`out ${count(output)}`),
    ...(costText === undefined ? [] : [plain(costText)]),
  ];
}

function segmentTitle(segment: Segment, of: number): readonly Part[] {
  const { ordinal, startOrigin, startMs } = segment;
  return [
    [{ text: `segment ${ordinal + 1} of ${of}`, style: "bold" }],
    ...(startOrigin === undefined ? [] : [plain(printable(startOrigin))]),
    plain(localTime(startMs)),
    plain(duration(activeMs([segment]))),
    ending(segment),
  ];
}
