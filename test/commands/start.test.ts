import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import claude from "#agents/claude-code/index.ts";
import installer from "#agents/claude-code/installer.ts";
import { enableAndOffer, start } from "#commands/start.ts";
import type { Context } from "#config/context.ts";
import { placesOf } from "#config/places.ts";
import type { AgentLookup } from "#setup/registration/settings.ts";
import { sessionCounts } from "#store/queries.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { claudePath, claudeSession, sessionIdOf, writeLines } from "../import/claude.ts";
import { answeringTerminal, CANCEL, ENTER, NO } from "../support/answers.ts";
import { contextAt } from "../support/context.ts";
import { ensureBuilt, ROOT } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";

const ENABLE = "Register the hook with these agents?";
const IMPORT = "Import 2 past sessions of Claude Code";
const agents: AgentLookup = {
  list: async () => [claude],
  find: async (source) => (source === claude.source ? claude : undefined),
};

let home = "";
let stop = new AbortController();
beforeAll(ensureBuilt);
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-start-"));
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  removeFolder(home);
});

const storedSessions = (context: Context) => withOpenStore(context, (db) => sessionCounts(db).sessions) ?? 0;
const places = () => placesOf({ env: {}, home, platform: "linux" });
const settings = () => join(home, ".claude", "settings.json");
const options = (more: object = {}) => ({
  yes: false,
  open: true,
  hookSource: join(ROOT, "src", "collect", "intake", "hook.sh"),
  packageRoot: ROOT,
  stop: stop.signal,
  ...more,
});

/** Two sessions in the agent's folder. */
function work(): void {
  for (const day of [1, 2]) {
    const id = sessionIdOf(day);
    writeLines(
      claudePath({ home }, id),
      claudeSession({ id, startMs: Date.parse("2026-08-03T10:00:00Z"), turns: 2 }).lines,
    );
  }
}

/** Without a terminal. */
const piped = () => contextAt(places(), { env: { HOME: home, PATH: "" } });

/** On a terminal, with these answers. The page is closed as soon as it is served. */
async function typed(
  answers: readonly (readonly [string, string])[],
  run: (context: Context) => Promise<number> = (context) => start([], options(), context, agents),
) {
  const { context } = piped();
  const { shown, ...terminal } = answeringTerminal(...answers);
  const closing = setInterval(() => {
    if (shown().includes("Ctrl-C to stop")) stop.abort();
  }, 20);
  const code = await run({ ...context, ...terminal }).finally(() => clearInterval(closing));
  return { code, shown: shown(), stored: storedSessions(context) };
}

test("on a terminal: enables, imports, opens the page; a second run asks nothing", async () => {
  work();
  const first = await typed([
    [ENABLE, ENTER],
    [IMPORT, ENTER],
  ]);
  expect(first).toMatchObject({ code: 0, stored: 2 });
  expect(first.shown).toMatch(/Import 2 .* \(<0\.1 MB, less than a second\)\? They stay on this machine\./);
  expect(first.shown).toContain("Serving http://127.0.0.1:");
  expect(readFileSync(settings(), "utf8")).toContain("openhook-otel/hook");

  stop = new AbortController();
  const second = await typed([]);
  expect(second).toMatchObject({ code: 0, stored: 2 });
  expect(second.shown).toMatch(/^Claude Code: already enabled in \S+\n\n\S*Since 2026-08-03 [\s\S]*\nServing /);
});

test("a refused import imports nothing, the page included, and says how to keep it so", async () => {
  work();
  const { code, shown, stored } = await typed([
    [ENABLE, ENTER],
    [IMPORT, NO],
  ]);
  expect({ code, stored }).toEqual({ code: 0, stored: 0 });
  expect(shown).toMatch(/Nothing was imported\. .*config set display\.refresh false/);
  expect(shown).toContain("No session to see yet");
});

test.each([
  ["at the first question", [[ENABLE, CANCEL]] as const, false],
  [
    "at the second question",
    [
      [ENABLE, ENTER],
      [IMPORT, CANCEL],
    ] as const,
    true,
  ],
])("cancelled %s: what follows is not done", async (_name, answers, isEnabled) => {
  work();
  const { code, shown, stored } = await typed(answers);
  expect({ code, stored, isEnabled: existsSync(settings()) }).toEqual({ code: 1, stored: 0, isEnabled });
  expect(shown).not.toContain("Serving");
});

test("--yes without a terminal: enables, imports, and ends with the answer", async () => {
  work();
  const { context, out } = piped();
  expect(await start([], options({ yes: true }), context, agents)).toBe(0);
  const [done = "", answer = ""] = out().split("\n\n");
  expect(done).toMatch(/^Claude Code: enabled in [\s\S]*\n2 sessions in /);
  expect(done).not.toMatch(/^agent +found/m);
  expect(answer).toMatch(
    new RegExp(
      [
        "^Since 2026-08-03 +\\$0\\.01 · 19\\.3k→252 tokens · 4 turns · 2 sessions",
        "Today +no session",
        "Dearest +\\$0\\.01 · do number \\d · acme-shop · 2026-08-0\\d",
        "Next +openhook-otel explain (\\S+) says where its money went\nopenhook-otel view shows all in the browser\n$",
      ].join("\n"),
    ),
  );
  // Both ids have the same beginning, so the whole id is named
  const [, id = ""] = /explain (\S+)/.exec(answer) ?? [];
  expect([1, 2].map((day) => sessionIdOf(day))).toContain(id);
});

test("agents that have sessions and no program here are named, so that no one misses them", async () => {
  work();
  const absent = {
    ...claude,
    installer: async () => ({ default: { ...installer, detect: async () => ({ present: false }) } }),
  };
  const { context, out } = piped();
  const found: AgentLookup = { list: async () => [absent], find: async () => absent };
  expect(await start([], options({ yes: true }), context, found)).toBe(0);
  expect(out()).toContain(
    "Sessions only, program not found: Claude Code. To collect from one anyway, name it: openhook-otel enable claude-code\n",
  );
});

test("without a terminal and without --yes: changes nothing", async () => {
  work();
  const { context } = piped();
  await expect(start([], options(), context, agents)).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringMatching(/^found claude-code: .*pass --yes/),
  });
  expect([existsSync(settings()), storedSessions(context)]).toEqual([false, 0]);
});

test("in CI it asks no question, even on a terminal", async () => {
  work();
  const { context } = piped();
  const terminal = { stdin: Object.assign(new PassThrough(), { isTTY: true }), env: { ...context.env, CI: "true" } };
  const stdout = { ...context.stdout, isTTY: true };
  await expect(start([], options(), { ...context, ...terminal, stdout }, agents)).rejects.toThrow("pass --yes");
});

test("without any agent: nothing to collect yet, which is no error", async () => {
  const { context, out } = piped();
  expect(await start([], options({ yes: true }), context, agents)).toBe(0);
  expect(out()).toMatch(/^Nothing to collect yet: no supported agent found on this machine\.\nNo session to see yet\./);
  expect(existsSync(context.places.stateDir)).toBe(false);
});

test("enable offers the import at the end; named agents only get a hint, and a pipe nothing", async () => {
  work();
  const on = (names: readonly string[]) => (context: Context) =>
    enableAndOffer(names, { ...options(), dryRun: false }, () => stop.signal, context, agents);
  const named = await typed([], on(["claude-code"]));
  expect(named).toMatchObject({ code: 0, stored: 0 });
  expect(named.shown).toMatch(/\n2 past sessions of Claude Code can be imported: \S+ import\n$/);
  const asked = await typed([[IMPORT, ENTER]], on([]));
  expect(asked).toMatchObject({ code: 0, stored: 2 });
  const { context, out } = piped();
  expect(await on(["claude-code"])(context)).toBe(0);
  expect(out()).toMatch(/^Claude Code: already enabled in \S+\n$/);
});
