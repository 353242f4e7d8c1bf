// The terminal interface sends no SessionEnd when the user leaves
import { afterEach, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { importInto, unpackAll } from "../../import/run.ts";
import { clockAt } from "../../support/clock.ts";
import { Replay } from "../../support/replay.ts";

let replay: Replay | undefined;
afterEach(() => replay?.remove());

test.each([
  ["basic", ["completed"]],
  ["interrupted", ["user_exit", "completed"]],
  ["killed", ["timeout"]],
])("%s, without SessionEnd: each segment ends as its last turn did, %j", async (name, reasons) => {
  replay = new Replay("codex", name);
  const lastMs = Date.parse(replay.calls.at(-1)?.received_at ?? "");
  for (const call of replay.calls) if (call.event !== "SessionEnd") replay.put(call);
  await replay.drain({}, clockAt(lastMs));
  await replay.drain({}, clockAt(lastMs + 3_600_000));
  expect(reasonsIn(replay)).toEqual(reasons);
});

test.each([
  ["basic", "completed"],
  ["killed", "timeout"],
])("%s, imported: the session ends as its last turn did, %s", async (name, reason) => {
  replay = new Replay("codex", name);
  await importInto(replay, "codex");
  expect(reasonsIn(replay)).toEqual([reason]);
  await unpackAll(replay, "codex");
  expect(reasonsIn(replay)).toEqual([reason]);
});

function reasonsIn({ places }: Replay): readonly unknown[] {
  const db = openDatabase(places.storePath);
  try {
    return db
      .prepare("SELECT reason FROM segments ORDER BY ordinal")
      .all()
      .map((row) => row["reason"]);
  } finally {
    db.close();
  }
}
