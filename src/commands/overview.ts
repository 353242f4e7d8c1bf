import { existsSync } from "node:fs";
import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { overviewLines } from "#show/report/text/overview.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { noStoreMessage } from "./no-store-message.ts";
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
  const commands = lines === undefined ? atFirst() : afterwards();
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

type Hint = readonly [command: string, what: string];

const afterwards = (): readonly Hint[] => [
  [suggest("report"), "cost and tokens by day, agent and model"],
  [suggest("sessions"), "the latest sessions"],
  [suggest("explain"), "where the time and money of the newest session went"],
  [suggest("view"), "all of it in the browser"],
  [suggest("help"), "all commands"],
];

const atFirst = (): readonly Hint[] => [
  [suggest("start"), "enable your agents, import past sessions and see them"],
  [suggest("demo"), "recorded sessions, from the hook to the backend"],
  [suggest("import"), "only import past sessions"],
  [suggest("doctor"), "check this machine"],
  [suggest("help"), "all commands"],
];
