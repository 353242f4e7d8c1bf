import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import Libsql from "libsql";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import { enable } from "#commands/enable.ts";
import { type ImportCommandOptions, importPast } from "#commands/import.ts";
import { UserError } from "#kit/errors.ts";
import { openDatabase } from "#store/database.ts";
import { readStore } from "#store/read-only.ts";
import { SCHEMA_VERSION } from "#store/schema-version.const.ts";
import {
  claudePath,
  claudeSession,
  NOTHING,
  plus,
  type SessionOptions,
  sessionIdOf,
  writeLines,
} from "../import/claude.ts";
import { packedCount, storedTotals } from "../import/totals.ts";
import { CONTROL, type ContextOptions, columnsOf, contextAt, SGR } from "../support/context.ts";
import { Replay, ROOT } from "../support/replay.ts";
import { stateFiles } from "../support/store-bytes.ts";

const STARTED_MS = Date.parse("2026-08-03T10:00:00Z");
const DAY_MS = 24 * 3_600_000;

let at: Replay;
beforeEach(() => {
  at = new Replay("claude-code", "basic", { withTranscripts: false });
});
afterEach(() => at.remove());

interface World extends ContextOptions {
  /** Makes stderr a terminal with this many columns. */
  readonly progress?: number;
}

async function run(names: readonly string[], options: Partial<ImportCommandOptions> = {}, world: World = {}) {
  const { context, out, err } = contextAt(at.places, { now: () => STARTED_MS + 60 * DAY_MS, ...world });
  const { progress } = world;
  const shown: string[] = [];
  const stderr =
    progress === undefined
      ? context.stderr
      : { ...context.stderr, isTTY: true, columns: progress, rewrite: (text: string) => shown.push(text) };
  const stop = new AbortController().signal;
  const code = await importPast(
    names,
    { dryRun: false, export: false, json: false, stop, ...options },
    { ...context, stderr },
  );
  return { code, out: out(), err: err(), shown };
}

/** Sessions that start this many days after the first, with this many turns. */
function write(...wanted: readonly (Partial<SessionOptions> & { readonly day: number })[]) {
  const made = wanted.map(({ day, ...more }) => {
    const id = sessionIdOf(day);
    const one = claudeSession({ id, startMs: STARTED_MS + day * DAY_MS, turns: 2, ...more });
    writeLines(claudePath(at, id), one.lines);
    const time = new Date(STARTED_MS + day * DAY_MS + 3_600_000);
    utimesSync(claudePath(at, id), time, time);
    return one.totals;
  });
  return made.length === 0 ? NOTHING : plus(...made);
}

const stored = () => storedTotals(at.places.storePath);
const everything = (): readonly string[] => readdirSync(at.home, { recursive: true, encoding: "utf8" }).sort();
/** Without the files that SQLite keeps beside a store for as long as a connection is open. */
const lasting = (): readonly string[] => everything().filter((path) => !/-(wal|shm)$/.test(path));
/** Every byte in the state directory. */
const stateText = (): string =>
  readdirSync(at.places.stateDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");

describe("import", () => {
  test("reports what it found, stores it locally, and finds nothing new the second time", async () => {
    const totals = write({ day: 1 }, { day: 2, turns: 4 });
    const first = await run([]);
    expect(first).toMatchObject({ code: 0, err: "" });
    expect(first.out).toMatch(/^agent +found +imported +read$/m);
    expect(first.out).toMatch(/^Claude Code +2 +2 +/m);
    expect(first.out).toContain("they stay on this machine");
    expect(stored()).toEqual(totals);
    expect(packedCount(at.places.storePath)).toBe(2);
    const second = await run([]);
    expect(second.out).toMatch(/^Claude Code +2 +0 +2$/m);
    expect(second.out).toContain("nothing is new");
    expect(stored()).toEqual(totals);
  });

  test("an interrupted import reports what it read, as text and as JSON", async () => {
    write({ day: 1 }, { day: 2 });
    const { code, out } = await run([], { stop: AbortSignal.abort() });
    expect(code).toBe(130);
    expect(out).toMatch(/^agent +found +imported$/m);
    expect(out).toContain("openhook-otel import continues");
    const { out: json } = await run([], { stop: AbortSignal.abort(), json: true });
    expect(JSON.parse(json)).toMatchObject({ stopped: true, agents: { "claude-code": { found: 2, bytes: 0 } } });
    const dry = JSON.parse((await run([], { dryRun: true, json: true })).out);
    const done = JSON.parse((await run([], { json: true })).out);
    const bytes = [1, 2].reduce((sum, day) => sum + statSync(claudePath(at, sessionIdOf(day))).size, 0);
    expect([dry, done].map(({ agents }) => agents["claude-code"].bytes)).toEqual([bytes, bytes]);
  });

  test("an unreadable folder is reported with exit code 1, and the rest is imported", async () => {
    const totals = write({ day: 1 });
    const codex = join(at.home, ".codex", "sessions");
    mkdirSync(join(at.home, ".codex"));
    symlinkSync(codex, codex);
    for (const options of [{ dryRun: true }, {}, { json: true }]) {
      const { code, out } = await run([], options);
      expect(code).toBe(1);
      expect(out).toContain("could not look for sessions in");
    }
    expect(stored()).toEqual(totals);
  });

  test("a touched file of a session that hooks reported is read once", async () => {
    at.remove();
    at = new Replay("claude-code", "basic");
    for (const call of at.calls) at.put(call);
    await at.drain({ endIdle: true });
    const before = stored();
    const folder = join(at.home, ".claude", "projects");
    for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (entry.endsWith(".jsonl")) utimesSync(join(folder, entry), new Date(), new Date());
    }
    expect((await run([])).out).toMatch(/^agent +found +imported +from hooks$/m);
    expect((await run([])).out).toMatch(/^agent +found +imported +unchanged$/m);
    expect(stored()).toEqual(before);
  });

  test("an unsupported format is reported, and is not a failure", async () => {
    const day = join(at.home, ".codex", "sessions", "2026", "08", "03");
    mkdirSync(day, { recursive: true });
    writeFileSync(join(day, "rollout-2025-04-20-0e2f3c1a.json"), "{}");
    const { code, out } = await run([]);
    expect(out).toContain("1 session is of a version before Codex was written in Rust");
    expect(code).toBe(0);
  });

  test("invalid records are counted in plain numbers", async () => {
    write({ day: 1 });
    writeFileSync(claudePath(at, sessionIdOf(2)), "not json\n");
    writeFileSync(claudePath(at, sessionIdOf(3)), "not json\nnor this\n");
    const { out } = await run([]);
    expect(out).toContain("nothing of a session is in it, 1 record makes no sense\n");
    expect(out).toContain("nothing of a session is in it, 2 records make no sense\n");
  });

  test("--json reports the same", async () => {
    write({ day: 1 });
    const { out } = await run(["claude-code"], { json: true });
    expect(JSON.parse(out)).toMatchObject({
      dry_run: false,
      stopped: false,
      agents: { "claude-code": { found: 1, imported: 1, unchanged: 0, failed: 0, left_out: 0 } },
      exported: null,
      problems: [],
    });
    expect(out.trimEnd().split("\n")).toHaveLength(1);
  });

  test("--dry-run writes nothing, before and after the first import", async () => {
    const totals = write({ day: 1 }, { day: 2 });
    const before = everything();
    const dry = await run([], { dryRun: true });
    expect(dry.out).toMatch(/^agent +found +to import/m);
    expect(dry.out).toContain("2 sessions");
    expect(dry.out).toContain("nothing was written");
    expect(everything()).toEqual(before);
    await run([]);
    const [state, files] = [stateFiles(at.places), lasting()];
    const nothing = "nothing new to import";
    expect((await run([], { dryRun: true })).out).toContain(nothing);
    write({ day: 3 });
    const again = await run([], { dryRun: true });
    expect(again.out).not.toContain(nothing);
    expect(again.out).toMatch(/^Claude Code +3 +1 +2 /m);
    expect(stateFiles(at.places)).toEqual(state);
    expect(lasting()).toEqual([...files, relative(at.home, claudePath(at, sessionIdOf(3)))].sort());
    expect(stored()).toEqual(totals);
  });

  test("--dry-run writes no log even if the configuration is invalid", async () => {
    write({ day: 1 });
    const { code } = await run([], { dryRun: true }, { env: { OPENHOOK_OTEL_CAPTURE: "bogus" } });
    expect(code).toBe(0);
    expect(everything().some((path) => path.endsWith(".log"))).toBe(false);
  });

  test("--since compares the last activity, even if the file was touched later", async () => {
    write({ day: 1 });
    const totals = write({ day: 10 }, { day: 20 });
    // Just copied to this machine: the file is new, its content is old
    const now = new Date(STARTED_MS + 59 * DAY_MS);
    utimesSync(claudePath(at, sessionIdOf(1)), now, now);
    const since = new Date(STARTED_MS + 5 * DAY_MS).toISOString().slice(0, 10);
    expect((await run([], { since })).out).toMatch(/^agent +found +imported +older/m);
    expect(stored()).toEqual(totals);
    await run([], { since: "90d" });
    expect(stored().sessions).toBe(3);
    await expect(run([], { since: "yesteryear" })).rejects.toThrow(/--since/);
  });

  test("invalid arguments exit with 2 and a remedy, and create nothing", async () => {
    const before = everything();
    const wrong = async (names: readonly string[], options: Partial<ImportCommandOptions> = {}, world: World = {}) => {
      const error = await run(names, options, world).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof UserError)) throw new Error(`no UserError but ${String(error)}`);
      expect(error.exitCode).toBe(2);
      return error.message;
    };
    expect(await wrong(["clade"])).toMatch(/unknown agent "clade" \(did you mean claude-code\?\); these agents/);
    expect(await wrong([], { since: "2099-01-01" })).toMatch(/--since "2099-01-01" is in the future/);
    expect(await wrong(["cursor"])).toMatch(/Cursor keeps no past sessions that can be read/);
    expect(await wrong([], { export: true })).toMatch(/config set otlp\.endpoint/);
    const env = { OPENHOOK_OTEL_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_SDK_DISABLED: "true" };
    expect(await wrong([], { export: true }, { env })).toMatch(/export is off/);
    expect(everything()).toEqual(before);
  });

  test("with export switched off, past sessions are still imported and stored locally", async () => {
    const totals = write({ day: 1 });
    expect(await run([], {}, { env: { OTEL_SDK_DISABLED: "true" } })).toMatchObject({ code: 0 });
    expect(stored()).toEqual(totals);
  });

  test("without any agent it reports that, with a remedy", async () => {
    const none = await run([]);
    expect(none).toMatchObject({ code: 0, err: "" });
    expect(none.out).toContain("no past sessions found");
    expect(none.out).toContain("Claude Code");
    expect((await run(["codex", "codex"])).out).toContain("searched for Codex\n");
  });

  test("reads agents' folders that a variable moves for this run", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "openhook-moved-"));
    try {
      const { lines, totals } = claudeSession({ id: sessionIdOf(7), startMs: STARTED_MS, turns: 3 });
      writeLines(join(elsewhere, "projects", "-home-dev-acme-shop", `${sessionIdOf(7)}.jsonl`), lines);
      expect((await run([])).out).toContain("no past session");
      expect(await run([], {}, { env: { CLAUDE_CONFIG_DIR: elsewhere } })).toMatchObject({ code: 0 });
      expect(stored()).toEqual(totals);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });
});

test("takes every profile that enable has registered, until it is disabled", async () => {
  const profile = mkdtempSync(join(tmpdir(), "openhook-profile-"));
  try {
    const { lines, totals } = claudeSession({ id: sessionIdOf(7), startMs: STARTED_MS, turns: 3 });
    writeLines(join(profile, "projects", "-home-dev-acme-shop", `${sessionIdOf(7)}.jsonl`), lines);
    const hookSource = join(ROOT, "src", "collect", "intake", "hook.sh");
    const { context } = contextAt(at.places, { env: { CLAUDE_CONFIG_DIR: profile } });
    await enable(["claude-code"], { scope: "user", yes: true, dryRun: false, hookSource }, context, {
      list: allAgents,
      find: findAgent,
    });
    expect((await run([], { dryRun: true })).out).toContain("1 session");
    expect(await run([])).toMatchObject({ code: 0 });
    expect(stored()).toEqual(totals);
  } finally {
    rmSync(profile, { recursive: true });
  }
});

describe("on a terminal", () => {
  test.each([20, 40, 80])("with %d columns no line is wider, and none moves the cursor", async (columns) => {
    write({ day: 1 });
    writeFileSync(claudePath(at, `${sessionIdOf(2)}`), "{torn\n");
    const { out, code, shown } = await run([], {}, { columns, progress: columns });
    expect(code).toBe(1);
    for (const line of out.replaceAll(SGR, "").split("\n")) expect(columnsOf(line)).toBeLessThanOrEqual(columns);
    expect(out.replaceAll(SGR, "")).not.toMatch(CONTROL);
    expect(out).toMatch(SGR);
    // Progress lines are narrower than the terminal: otherwise it would scroll
    expect(shown.length).toBeGreaterThan(1);
    for (const line of shown) expect(columnsOf(line)).toBeLessThan(columns);
    expect(shown.at(-1)).toBe("");
  });

  test("NO_COLOR removes colours; a pipe has neither colours nor progress", async () => {
    write({ day: 1 });
    writeFileSync(claudePath(at, `${sessionIdOf(2)}`), "{torn\n");
    const plain = await run([], {}, { columns: 80, env: { NO_COLOR: "1" } });
    expect(plain.out).not.toContain("\u001b");
    const piped = await run([]);
    expect(piped).toMatchObject({ err: "", shown: [] });
    expect(piped.out).not.toContain("\u001b");
    expect(piped.out).toContain("1 session could not be read completely; the next import retries them");
    expect(piped.out).not.toContain("nothing is new");
    expect(piped.out).toContain(`! could not read the transcript ${JSON.stringify(claudePath(at, sessionIdOf(2)))}`);
  });

  test("control characters in names are escaped", async () => {
    const name = "\u001b]0;owned\u0007\u001b[2J";
    mkdirSync(join(at.home, ".claude", "projects", "-home-dev-acme-shop"), { recursive: true });
    writeFileSync(claudePath(at, name), "{torn\n");
    const { lines } = claudeSession({ id: sessionIdOf(3), startMs: STARTED_MS, turns: 1, tool: name, model: name });
    writeLines(claudePath(at, sessionIdOf(3)), lines);
    const { out, code } = await run([], {}, { columns: 80 });
    expect(out.replaceAll(SGR, "")).not.toMatch(CONTROL);
    expect([0, 1]).toContain(code);
    expect(stored().calls).toBe(3);
  });
});

describe("what is kept", () => {
  test("capture none: numbers are stored, names that someone chose are not", async () => {
    const cwd = "/home/dev/secret-project";
    const totals = write({ day: 1, tool: "mcp__payroll__list_salaries", cwd });
    const env = { OPENHOOK_OTEL_CAPTURE: "none" };
    expect(await run([], {}, { env })).toMatchObject({ code: 0 });
    const { tools, ...rest } = stored();
    expect({ tools, ...rest }).toEqual(totals);
    const text = stateText();
    for (const name of ["payroll", "salaries", "gitBranch", "secret-project"]) expect(text).not.toContain(name);
    const names = readStore(at.places.storePath, (db) => db.prepare("SELECT name FROM tool_usage").all());
    expect(names?.map((row) => row["name"])).toEqual(["mcp"]);
    // The same after packed sessions are unpacked
    writeLines(
      claudePath(at, sessionIdOf(1)),
      claudeSession({
        id: sessionIdOf(1),
        startMs: STARTED_MS + DAY_MS,
        turns: 3,
        tool: "mcp__payroll__list_salaries",
        cwd,
      }).lines,
    );
    await run([], {}, { env });
    expect(stateText()).not.toContain("salaries");
    expect(stored().turns).toBe(3);
  });

  test("a project's stricter setting stores nothing of it, or less", async () => {
    const [closed, bare] = [join(at.home, "closed"), join(at.home, "bare")];
    for (const folder of [closed, bare]) mkdirSync(folder);
    writeFileSync(join(closed, ".openhook-otel.json"), '{ "disabled": true }');
    writeFileSync(join(bare, ".openhook-otel.json"), '{ "capture": "none" }');
    const own = { tool: "mcp__ledger__open" };
    write({ day: 1, cwd: closed, tool: "mcp__hidden__look" });
    const totals = write({ day: 2, cwd: bare, ...own }, { day: 3 });
    const { out, code } = await run([]);
    expect(code).toBe(0);
    expect(out).toMatch(/^agent +found +imported +left out/m);
    expect(stored()).toEqual(totals);
    for (const name of ["hidden", "ledger"]) expect(stateText()).not.toContain(name);
    // This persists: the project is not read again
    expect((await run([])).out).toMatch(/^Claude Code +3 +0 +3$/m);
  });

  test("a secret in a name is redacted from the packed value too", async () => {
    const secret = `ghp_${"A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"}`;
    const totals = write({ day: 1, tool: `run_${secret}`, model: `claude-${secret}` });
    await run([]);
    expect(stateText()).not.toContain(secret.slice(4));
    expect(stored()).toEqual(totals);
  });

  test.skipIf(process.getuid === undefined)("a dangling link as state directory is an error", async () => {
    write({ day: 1 });
    mkdirSync(at.places.stateDir, { recursive: true, mode: 0o700 });
    symlinkSync(join(at.home, "nowhere"), `${at.places.stateDir}.link`);
    renameSync(at.places.stateDir, `${at.places.stateDir}.away`);
    renameSync(`${at.places.stateDir}.link`, at.places.stateDir);
    const error = await run([]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ exitCode: 1, message: expect.stringContaining("is a dangling link") });
  });

  test("a store of a later version stays untouched", async () => {
    const totals = write({ day: 1 });
    await run([]);
    const db = openDatabase(at.places.storePath);
    db.prepare("PRAGMA user_version = 99").get();
    db.close();
    write({ day: 2 });
    await expect(run([])).rejects.toThrow(/later version/);
    await expect(run([], { dryRun: true })).rejects.toThrow(/later version/);
    const again = openRaw();
    again.prepare(`PRAGMA user_version = ${SCHEMA_VERSION}`).get();
    again.close();
    expect(stored()).toEqual(totals);
  });
});

// --- internal ---

const openRaw = (): Libsql.Database => new Libsql(at.places.storePath, {});
