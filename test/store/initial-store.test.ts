// The store in `initial-store` was made before the migrations became one schema; its README.md says how.
import { cpSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Libsql from "libsql";
import { afterEach, beforeEach, expect, test } from "vitest";
import { report } from "#commands/report.ts";
import { sessions } from "#commands/sessions.ts";
import type { Context } from "#config/context.ts";
import { VERSION_METRICS } from "#core/telemetry/shapes.ts";
import { openDatabase } from "#store/database.ts";
import { checkIntegrity } from "#store/health.ts";
import { INITIAL_VERSION, MIGRATIONS } from "#store/migrations.ts";
import { contextAt } from "../support/context.ts";
import { ROOT } from "../support/program.ts";
import { CASES, Replay } from "../support/replay.ts";
import { storeBytes } from "../support/store-bytes.ts";
import { schemaOf } from "./schema-of.ts";

const fixture = (name: string): string => readFileSync(join(ROOT, "test", "store", "initial-store", name), "utf8");
/** Metrics that are newer than this store. */
const SINCE: ReadonlySet<string> = new Set([
  "openhook.context.tokens",
  "openhook.cache.miss.tokens",
  ...VERSION_METRICS,
]);
/** What the list of sessions says since then: of this store's sessions, nothing. */
const NO_FAMILY = { parent: null, child_sessions: [] };
/** Figures that are newer than this store, which has none of them. */
const NEW: ReadonlySet<string> = new Set(["web_searches", "web_searches_without_fee", "fees_usd", "credits"]);

interface Figures {
  readonly sessions: unknown;
  readonly report: unknown;
  readonly counters: unknown;
  readonly spans: unknown;
}
const EXPECTED = JSON.parse(fixture("figures.json")) as Readonly<Record<"before" | "after", Figures>>;

let at: Replay;
beforeEach(() => {
  at = new Replay("claude-code", "multi-turn", { withTranscripts: false });
  // Not a byte may differ, because the store has the position up to which it was read
  cpSync(join(CASES, "claude-code", "multi-turn", "transcripts"), join(at.home, ".claude", "projects"), {
    recursive: true,
  });
  mkdirSync(at.places.inboxDir, { recursive: true, mode: 0o700 });
  const raw = new Libsql(at.places.storePath, {});
  raw.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF");
  raw.exec(moved(fixture("store.sql")));
  raw.close();
});
afterEach(() => at.remove());

/** With the agents' own folders in this test's home. */
const moved = (text: string): string => text.replaceAll(/\/home\/dev(?=\/\.|\n)/g, at.home.replaceAll("\\", "/"));

async function printed(command: (context: Context) => Promise<number>): Promise<unknown> {
  const { context, out } = contextAt(at.places, { env: { TZ: "UTC" } });
  expect(await command(context)).toBe(0);
  return JSON.parse(out(), (name, value: unknown) => {
    if (!NEW.has(name)) return value;
    expect(value).toBeNull();
    return undefined;
  });
}

/** What the store says, without how often and how long it was drained. */
async function figures(): Promise<Figures> {
  const listed = (await printed((context) => sessions({ limit: 20, json: true, refresh: false }, context))) as object[];
  const question = { since: "2020-01-01", json: true, csv: false, refresh: false };
  const all = (await printed((context) => report(["agent", "model"], question, context))) as Record<string, unknown>;
  const { price_table: _, unseen_searches, plans, ...reported } = all;
  expect([unseen_searches, plans]).toEqual([[], []]);
  const db = openDatabase(at.places.storePath);
  const counters = db.prepare("SELECT metric, attributes, value, histogram FROM counters ORDER BY metric, attributes");
  const spans = db.prepare("SELECT key, segment FROM spans ORDER BY key");
  const found = {
    sessions: listed.map((one) => {
      expect(one).toMatchObject(NO_FAMILY);
      return Object.fromEntries(Object.entries(one).filter(([name]) => !(name in NO_FAMILY)));
    }),
    report: reported,
    counters: counters
      .all()
      .filter(({ metric }) => !String(metric).startsWith("openhook.collector.drain."))
      .filter(({ metric }) => !SINCE.has(String(metric)))
      .map(({ metric, attributes, value, histogram }) => [
        metric,
        JSON.parse(String(attributes)),
        value ?? JSON.parse(String(histogram)),
      ]),
    spans: spans.all().map(({ key, segment }) => `${key} ${segment}`),
  };
  db.close();
  return found;
}

test("a new store has its schema", () => {
  const [old, made] = [openDatabase(at.places.storePath), openDatabase(join(at.home, "new", "store.db"))];
  expect(schemaOf(old)).toEqual(schemaOf(made));
  expect(Object.keys(schemaOf(made)).length).toBeGreaterThan(70);
  const versions = [old, made].map((db) => db.prepare("PRAGMA user_version").get()?.["user_version"]);
  expect(versions).toEqual([INITIAL_VERSION + MIGRATIONS.length, INITIAL_VERSION + MIGRATIONS.length]);
  old.close();
  made.close();
});

test("opening it again changes nothing in it, and it is intact", () => {
  openDatabase(at.places.storePath).close();
  const before = storeBytes(at.places.storePath);
  const db = openDatabase(at.places.storePath);
  expect(checkIntegrity(db, before.length)).toEqual({ problems: [], isWhole: true });
  const packed = db.prepare("SELECT typeof(body) AS form FROM packed ORDER BY session").all();
  expect(packed).toMatchObject([{ form: "text" }, { form: "blob" }]);
  db.close();
  expect(storeBytes(at.places.storePath).equals(before)).toBe(true);
});

test("its figures are the same, also after a drain of the events that came since", async () => {
  // A command that only reads does not bring it up to date
  openDatabase(at.places.storePath).close();
  expect(await figures()).toEqual(EXPECTED.before);
  for (const { name, modifiedMs, text } of JSON.parse(fixture("inbox.json"))) {
    const path = join(at.places.inboxDir, name);
    writeFileSync(path, moved(text));
    utimesSync(path, modifiedMs / 1000, modifiedMs / 1000);
  }
  const { problems } = await at.drain({ endIdle: true });
  expect(problems).toEqual([]);
  expect(await figures()).toEqual(EXPECTED.after);
  await at.drain({ endIdle: true });
  expect(await figures()).toEqual(EXPECTED.after);
});
