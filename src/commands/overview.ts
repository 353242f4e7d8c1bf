import { existsSync } from "node:fs";
import type { Context } from "../context.ts";
import { suggest } from "../model/suggest.ts";
import { overviewLines } from "../report/text/overview.ts";
import { noStoreMessage, withOpenStore } from "../sessions/open-store.ts";
import { printLines } from "../text/ascii.ts";
import { terminalOf } from "../text/terminal.ts";
import { refreshed } from "./refreshed.ts";
import { printUnreadHere } from "./unread.ts";

/**
 * `openhook-otel` without a command: today, seven days, what is running, and commands to go on with. Creates no state.
 *
 * @returns exit code: 0
 * @throws UserError when the store or the configuration cannot be read
 */
export async function overview(context: Context): Promise<number> {
  const { behind, agents, loaded } = await refreshed({ refresh: existsSync(context.places.storePath) }, context);
  const idle = { nowMs: context.now(), idleTimeoutMs: loaded.config.session.idleTimeoutMs };
  const lines = withOpenStore(context, (db) => overviewLines(db, agents, idle, terminalOf(context)));
  const commands = (lines === undefined ? AT_FIRST : COMMANDS).map(([args, what]) => [suggest(args), what] as const);
  const width = Math.max(...commands.map(([command]) => command.length));
  printLines(context, [
    ...(lines ?? [await noStoreMessage(context, behind)]),
    "",
    ...commands.map(([command, what]) => `${command.padEnd(width)}  ${what}`),
  ]);
  await printUnreadHere({ agents, loaded }, context, undefined);
  return 0;
}

// --- internal ---

const COMMANDS = [
  ["report", "cost and tokens by day, agent and model"],
  ["sessions", "the latest sessions"],
  ["explain", "where the time and money of the newest session went"],
  ["view", "all of it in the browser"],
  ["help", "all commands"],
] as const;

const AT_FIRST = [
  ["start", "enable your agents, import past sessions and see them"],
  ["demo", "recorded sessions, from the hook to the backend"],
  ["import", "only import past sessions"],
  ["doctor", "check this machine"],
  ["help", "all commands"],
] as const;
