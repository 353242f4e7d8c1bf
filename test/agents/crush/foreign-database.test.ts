// A repository can bring its own .crush/crush.db: reading it must be quick, whatever it contains.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import reader from "#agents/crush/transcript.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptBatch } from "#core/model/transcript-reader.ts";
import { RefusedError } from "#kit/open.ts";
import { Made, readAll, text } from "./made.ts";

let made: Made;
beforeEach(() => {
  made = new Made();
  made.session("s1", 1_795_000_000);
});
afterEach(() => made.remove());

const query = () => ({ home: made.home, sessionId: "s1", path: made.path });
const SLOW = "replace(hex(zeroblob(100000000)), '0', '00')";

describe("is not read if reading it computes something", () => {
  const remade = (columns: string): string => `DROP TABLE messages;
    CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, model TEXT, created_at INTEGER, ${columns})`;
  test.each([
    ["a computed column", remade(`parts TEXT AS (${SLOW})`)],
    ["a computed column behind a comment", remade(`parts TEXT AS/**/(${SLOW})`)],
    ["a stored one", remade(`parts TEXT GENERATED ALWAYS/* x */AS(hex(id)) STORED`)],
    ["one that is not asked for", remade(`parts TEXT, other TEXT AS\n(${SLOW})`)],
    ["a view", `ALTER TABLE messages RENAME TO m; CREATE VIEW messages AS SELECT *, ${SLOW} AS slow FROM m`],
    ["a virtual table", "DROP TABLE messages; CREATE VIRTUAL TABLE messages USING fts5(parts)"],
    ["a view with capital letters", "ALTER TABLE sessions RENAME TO s; CREATE VIEW Sessions AS SELECT * FROM s"],
  ])("%s", async (_, sql) => {
    made.db.exec(sql);
    await expect(reader.files(query())).rejects.toThrow(RefusedError);
  });
});

test.each([
  ["many parts", JSON.stringify(Array.from({ length: 200_000 }, () => text("x")))],
  ["numbers in place of parts", `[${"0,".repeat(2_000_000)}0]`],
  ["many values in a part", JSON.stringify([{ type: "text", data: Array.from({ length: 600_000 }, () => 0) }])],
  ["an object with many members", JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [n, n])))],
])("a message with %s is set aside, and the others are read", async (_, parts) => {
  made.prompt("s1", "m1", 1_795_000_001);
  made.message("s1", "m2", "assistant", 1_795_000_002, []);
  made.db.prepare("UPDATE messages SET parts = ? WHERE id = 'm2'").run(parts);
  made.prompt("s1", "m3", 1_795_000_003);
  const { entries, unreadable } = await readAll(query());
  expect(unreadable).toBe(1);
  expect(entries.filter(({ kind }) => kind === "prompt")).toHaveLength(2);
  const batches: TranscriptBatch[] = [];
  for (const file of await reader.files(query()))
    for await (const batch of reader.read(file, INITIAL_OFFSET)) batches.push(batch);
  expect(batches.flatMap(({ setAside }) => setAside ?? [])).toEqual([
    { records: 1, reason: expect.stringContaining("too many parts") },
  ]);
});

test("a long chain of subagents is followed without a quadratic query", async () => {
  made.db.exec("BEGIN");
  for (let n = 2; n <= 20_000; n++) made.session(`s${n}`, 1_795_000_000 + n, `s${n - 1}`);
  made.db.exec("COMMIT");
  const files = await reader.files(query());
  expect(files).toHaveLength(20_000);
  expect(files.at(-1)?.agentId).toBe("s20000");
});
