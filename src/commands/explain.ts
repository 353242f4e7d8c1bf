import { allAgents } from "../agents/registry.ts";
import { loadConfig } from "../config/load.ts";
import { type Context, UserError } from "../context.ts";
import { cardOf } from "../model/card-of.ts";
import { type Explanation, explain as explained } from "../report/explain.ts";
import { explainJson } from "../report/explain-json.ts";
import { findingsOf, unknownsOf } from "../report/findings.ts";
import { viewOf } from "../report/session-view.ts";
import { moneyTable, timeTable } from "../report/text/explain-tables.ts";
import { chosenSession } from "../sessions/find-session.ts";
import { noStoreMessage, withOpenStore } from "../sessions/open-store.ts";
import { spanSettings } from "../sessions/span-settings.ts";
import { PRICE_TABLE } from "../telemetry/cost.ts";
import { printLines } from "../text/ascii.ts";
import { localTime } from "../text/figures.ts";
import { flow, type Piece, printable, type Terminal, terminalOf, wrapped } from "../text/terminal.ts";

export interface ExplainOptions {
  readonly json: boolean;
}

/**
 * `openhook-otel explain`: where the minutes and the money of one session went.
 *
 * @param session id, the beginning of one, or `<source>/<id>`; without it the one with the latest activity
 * @returns exit code: 0
 * @throws UserError when there is no such session, or more than one, or nothing at all yet
 */
export async function explain(
  session: string | undefined,
  { json }: ExplainOptions,
  context: Context,
): Promise<number> {
  const [agents, loaded] = await Promise.all([allAgents(), loadConfig(context)]);
  const explanation = withOpenStore(context, (db) => {
    const stored = chosenSession(db, session);
    if (stored === undefined) return undefined;
    return explained(db, viewOf(db, stored, { agents }, spanSettings({ loaded })), { agents });
  });
  if (explanation === undefined) throw new UserError("E_EMPTY", await noStoreMessage(context), 1);
  const { source } = explanation.view.stored;
  const title = cardOf({ agents }, source)?.title ?? source;
  if (json) context.stdout.write(`${JSON.stringify(explainJson(explanation))}\n`);
  else printLines(context, inWords(explanation, title, terminalOf(context)));
  return 0;
}

// --- internal ---

/** With the tables below, this is a screen. */
const MAX_FINDINGS = 5;

function* inWords(explanation: Explanation, title: string, terminal: Terminal): Generator<string> {
  yield* flow(identity(explanation, title), terminal);
  const findings = findingsOf(explanation).slice(0, MAX_FINDINGS);
  if (findings.length > 0) yield "";
  for (const { text } of findings) yield* wrapped({ text: "- ", style: "dim" }, text, terminal);
  for (const lines of [timeTable(explanation, terminal), moneyTable(explanation, terminal)]) {
    yield* afterSpace(lines);
  }
  const notes = [
    ...unknownsOf(explanation),
    ...(explanation.money.total.costNanoUsd === undefined ? [] : [`list prices of ${PRICE_TABLE}`]),
  ];
  if (notes.length > 0) yield "";
  for (const note of notes) yield* wrapped({ text: "" }, note, terminal);
}

function* afterSpace(lines: Iterable<string>): Generator<string> {
  let isFirst = true;
  for (const line of lines) {
    if (isFirst) yield "";
    isFirst = false;
    yield line;
  }
}

function identity({ view }: Explanation, title: string): readonly (readonly Piece[])[] {
  const { stored, facts, segments } = view;
  const version = stored.agentVersion === undefined ? "" : ` ${stored.agentVersion}`;
  const branch = facts.repository?.branch === undefined ? "" : `@${facts.repository.branch}`;
  return [
    [{ text: printable(title), style: "bold" }, { text: printable(version) }],
    ...(facts.repository === undefined ? [] : [[{ text: printable(`${facts.repository.name}${branch}`) }]]),
    [{ text: printable(stored.sessionId) }],
    [{ text: `started ${localTime(segments[0]?.startMs ?? stored.firstMs)}` }],
  ];
}
