// Sessions that no command can read: every command that shows sessions says so, and none sends the user to another one
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Libsql from "libsql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { importPast } from "#commands/import.ts";
import { overview } from "#commands/overview.ts";
import { report } from "#commands/report.ts";
import { sessions } from "#commands/sessions.ts";
import { status } from "#commands/status.ts";
import type { Context } from "#config/context.ts";
import { placesOf } from "#config/places.ts";
import { contextAt } from "../support/context.ts";
import { removeFolder } from "../support/remove.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-formats-"));
});
afterEach(() => removeFolder(home));

/** A database with sessions of OpenCode 2 only. */
function write(folder: string, name: string, count: number): void {
  mkdirSync(folder, { recursive: true });
  const db = new Libsql(join(folder, name), {});
  db.exec("CREATE TABLE session_v2 (id text PRIMARY KEY, time_updated integer NOT NULL)");
  for (let i = 1; i <= count; i++) db.exec(`INSERT INTO session_v2 VALUES ('ses_${i}', ${i})`);
  db.close();
}

async function outputOf(run: (context: Context) => Promise<number>, env: Record<string, string> = {}) {
  const { context, out } = contextAt(placesOf({ env: {}, home, platform: "linux" }), {
    env: { NO_COLOR: "1", ...env },
  });
  await run(context);
  return out();
}

const REPORT = { json: false, csv: false, refresh: true };
const COMMANDS: readonly (readonly [string, (context: Context) => Promise<number>])[] = [
  ["report", (context) => report([], REPORT, context)],
  ["report --no-refresh --agent", (context) => report([], { ...REPORT, refresh: false, agent: "openc" }, context)],
  ["report --json", (context) => report([], { ...REPORT, json: true }, context)],
  ["sessions", (context) => sessions({ limit: 5, json: false, refresh: true }, context)],
  ["overview", overview],
  ["status", (context) => status({ json: false }, context)],
  [
    "import",
    (context) =>
      importPast([], { dryRun: false, export: false, json: false, stop: new AbortController().signal }, context),
  ],
];

test.each(COMMANDS)(
  "%s says how many sessions of OpenCode 2 are not read, before and after an import",
  async (_, run) => {
    expect(await outputOf(run)).not.toMatch(/OpenCode 2/);
    write(join(home, ".local", "share", "opencode"), "opencode.db", 3);
    const said =
      /3 sessions of OpenCode in .*opencode\.db.* cannot be read, because the tables are those of OpenCode 2/;
    for (const command of [run, COMMANDS.at(-1)?.[1] ?? run, run])
      expect((await outputOf(command)).replaceAll(/\s+/g, " ")).toMatch(said);
  },
);

test("the variable that moves the database is followed; other agents' reports are silent", async () => {
  write(join(home, "data", "opencode"), "opencode-next.db", 1);
  const env = { XDG_DATA_HOME: join(home, "data") };
  expect(await outputOf((context) => report([], REPORT, context))).not.toMatch(/cannot be read/);
  expect(await outputOf((context) => report([], REPORT, context), env)).toMatch(/^1 session of OpenCode /m);
  const others = (context: Context) => report([], { ...REPORT, agent: "codex" }, context);
  expect(await outputOf(others, env)).not.toMatch(/cannot be read/);
});

test("a database that cannot be read breaks no command", async () => {
  const folder = join(home, ".local", "share", "opencode");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "opencode.db"), "SQLite format 3\0 and nothing else");
  expect(await outputOf((context) => report([], REPORT, context))).toMatch(/^no sessions yet/);
});
