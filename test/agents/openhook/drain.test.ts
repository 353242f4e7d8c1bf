import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DocumentedCall, linesOf } from "../../support/documented.ts";
import { DocumentedRun } from "../../support/documented-run.ts";
import { booksOf, summaryOf } from "../../support/summary.ts";

const CASE = join(dirname(fileURLToPath(import.meta.url)), "004-openhook");
const calls = linesOf<DocumentedCall>(join(CASE, "calls.jsonl"));
const LATER_MS = Date.parse("2026-09-14T12:00:00Z");

let run: DocumentedRun;
beforeEach(() => {
  run = new DocumentedRun();
});
afterEach(() => run.remove());

test("envelopes of anybody: counted once by their id, sums once for the session", async () => {
  for (const call of [...calls, ...calls.slice(2, 5)]) await run.hook(call);
  expect(await run.drain(LATER_MS)).toMatchObject({ quarantined: 0 });
  const books = booksOf(run.places.storePath);
  expect(books.counters).toMatchObject({ input: 1200, output: 300, calls: 0 });
  expect(books.rows).toMatchObject({ input: 1200, output: 300 });
  expect(summaryOf(run.places.storePath, "sess_abc123")).toMatchObject({ prompts: 1, unsettled: 0 });
  expect(run.log.join("\n")).toMatch(/OpenHook 0\.2 was read as 0\.1/);
});
