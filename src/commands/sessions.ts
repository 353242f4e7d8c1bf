import { allAgents } from "../agents/registry.ts";
import { loadConfigAndPrices } from "../config/own-prices.ts";
import type { Context } from "../context.ts";
import { summaryJson } from "../report/session-list-json.ts";
import { summarise } from "../report/session-summary.ts";
import { sessionTable } from "../report/text/session-list.ts";
import { noStoreMessage, withOpenStore } from "../sessions/open-store.ts";
import { recentSessions } from "../store/queries.ts";
import { printLines } from "../text/ascii.ts";
import { terminalOf } from "../text/terminal.ts";
import { type RefreshOption, refreshed } from "./refreshed.ts";

export interface SessionsOptions extends RefreshOption {
  /** Number of sessions, at least 1. */
  readonly limit: number;
  /** Also sessions of which only the start was reported. @default false */
  readonly all?: boolean;
  readonly json: boolean;
}

/**
 * `openhook-otel sessions`: lists sessions, latest activity first.
 *
 * @returns exit code: 0, also when there is none
 * @throws UserError when the store cannot be read
 */
export async function sessions(options: SessionsOptions, context: Context): Promise<number> {
  const { limit, all, json } = options;
  await refreshed(options, context);
  const [agents] = await Promise.all([allAgents(), loadConfigAndPrices(context)]);
  const found = withOpenStore(context, (db) =>
    recentSessions(db, limit, all === true).map((stored) => summarise(db, stored, { agents })),
  );
  if (json) context.stdout.write(`${JSON.stringify((found ?? []).map(summaryJson))}\n`);
  else if (found === undefined || found.length === 0) context.stdout.write(`${await noStoreMessage(context)}\n`);
  else printLines(context, sessionTable(found, terminalOf(context)));
  return 0;
}
