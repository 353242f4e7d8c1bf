import { existsSync } from "node:fs";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { printLines } from "#kit/text/ascii.ts";
import { printable, terminalOf, wrapped } from "#kit/text/terminal.ts";
import { overviewLines } from "#show/report/text/overview.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { refreshed } from "./refreshed.ts";
import { unreadHere } from "./unread.ts";

/**
 * `openhook-otel` without a command: today, seven days, what is running, and commands to go on with. Creates no state. Where the
 * settings or the store cannot be read, it says so instead.
 *
 * @returns exit code: 0
 */
export async function overview(context: Context): Promise<number> {
  const { lines, hints } = await figures(context).catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    return { lines: [error.message], hints: afterwards() };
  });
  const width = Math.max(...hints.map(([command]) => command.length));
  printLines(context, [...lines, "", ...hints.map(([command, what]) => `${command.padEnd(width)}  ${what}`)]);
  return 0;
}

// --- internal ---

type Hint = readonly [command: string, what: string];

async function figures(
  context: Context,
): Promise<{ readonly lines: readonly string[]; readonly hints: readonly Hint[] }> {
  const { behind, agents, loaded } = await refreshed({ refresh: existsSync(context.places.storePath) }, context);
  const idle = { nowMs: context.now(), idleTimeoutMs: loaded.config.session.idleTimeoutMs };
  const terminal = terminalOf(context);
  const found = withOpenStore(context, (db) => overviewLines(db, agents, idle, terminal, loaded.config.budget));
  const unread = await unreadHere({ agents, loaded }, context, undefined);
  const lines = [
    ...(found ?? [await noStoreMessage(context, behind)]),
    ...unread.flatMap((text) => [...wrapped({ text: "" }, printable(text), terminal)]),
  ];
  return { lines, hints: found === undefined ? atFirst() : afterwards() };
}

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
