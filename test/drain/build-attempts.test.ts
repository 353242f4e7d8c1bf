import { afterEach, expect, test } from "vitest";
import { limitAttempts } from "../../src/drain/build-attempts.ts";
import type { Drain } from "../../src/drain/context.ts";
import type { Database } from "../../src/store/database.ts";
import { addEntries } from "../../src/store/facts.ts";
import { ensureSession } from "../../src/store/sessions.ts";
import { temporaryStores } from "../store/temporary.ts";

const stores = temporaryStores();
let nowMs = Date.UTC(2026, 10, 21);
afterEach(() => {
  nowMs = Date.UTC(2026, 10, 21);
});

const drainOn = (db: Database, version = "1.0.0") => ({ db, version, now: () => nowMs }) as unknown as Drain;

/** A session with an open turn of this many records. */
function sessionOf(db: Database, records: number): number {
  const session = ensureSession(db, "claude-code", "s", nowMs);
  const use = (n: number) => ({ kind: "tool_use", key: `use:${n}`, callId: `${n}`, name: "Bash", timeMs: n }) as const;
  db.transaction(() =>
    addEntries(
      db,
      session,
      Array.from({ length: records }, (_, n) => use(n)),
    ),
  );
  return session.id;
}

/** Builds as a process that is killed on the way: what it stored before stays, and nothing after runs. */
function killed(drain: Drain, session: number): void {
  const { db } = drain;
  let mark: unknown;
  limitAttempts(drain, session, () => {
    mark = db.prepare("SELECT value FROM meta WHERE key = ?").get(`building.${session}`)?.["value"];
  });
  if (typeof mark === "string")
    db.prepare("INSERT INTO meta (key, value) VALUES (?, ?)").run(`building.${session}`, mark);
}

test("a large session is not built after two killed drains, until a day later or another version", () => {
  const db = stores.open();
  const session = sessionOf(db, 6_000);
  killed(drainOn(db), session);
  killed(drainOn(db), session);
  expect(() => limitAttempts(drainOn(db), session, () => "built")).toThrow(/two drains were killed/);
  expect(() => limitAttempts(drainOn(db), session, () => "built")).toThrow(/6000 records/);
  expect(limitAttempts(drainOn(db, "1.0.1"), session, () => "built")).toBe("built");
  expect(
    limitAttempts(drainOn(db), session, () => "built"),
    "it succeeded since",
  ).toBe("built");
  killed(drainOn(db), session);
  killed(drainOn(db), session);
  nowMs += 86_400_001;
  expect(limitAttempts(drainOn(db), session, () => "built")).toBe("built");
});

test("a small session is always built", () => {
  const db = stores.open();
  const session = sessionOf(db, 10);
  for (const _ of [1, 2, 3]) killed(drainOn(db), session);
  expect(limitAttempts(drainOn(db), session, () => "built")).toBe("built");
});

test("an exception does not count as a killed drain", () => {
  const db = stores.open();
  const session = sessionOf(db, 6_000);
  const throwing = () => {
    throw new Error("a bug");
  };
  for (const _ of [1, 2, 3]) expect(() => limitAttempts(drainOn(db), session, throwing)).toThrow("a bug");
});
