// Slow: only `npm run test:all` runs it. First prompt lines in the page's data; transcripts/prompt-lines.test.ts reads them
// from the agents' files.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { promptReader } from "#commands/titles.ts";
import { loadConfigAndPrices } from "#config/own-prices.ts";
import { promptAdder } from "#show/view/prompts.ts";
import { HAS_MORE } from "#show/view/wire/api.ts";
import { openDatabase } from "#store/database.ts";
import { limitCapture, sessionById } from "#store/sessions.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";
import { startChromium } from "./chromium.ts";
import { Served } from "./served.ts";

const LINE = "Look at src and tell me where to add a discount";

let replay: Replay;
let served: Served | undefined;
beforeEach(async () => {
  replay = new Replay("claude-code", "basic");
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
});
afterEach(async () => {
  await served?.close();
  served = undefined;
  replay.remove();
});

/** Clocks of readers: one that reads all lines, and one that reads a single line in each request. */
const enoughTime = () => () => true;
const noTime = () => () => false;

const reader = async () => {
  const { context } = contextAt(replay.places);
  return promptReader({ agents: await allAgents(), loaded: await loadConfigAndPrices(context) }, context, enoughTime);
};

/** Prompts of all rows, as the page gets them. */
async function shownPrompts(from: Served): Promise<readonly unknown[]> {
  const list = JSON.parse((await from.ask("api/sessions")).text);
  const [{ source, session_id }] = list.rows;
  const session = JSON.parse((await from.ask(`api/session?source=${source}&id=${session_id}`)).text);
  const home = JSON.parse((await from.ask("api/home")).text);
  return [list.rows[0].prompt, session.row.prompt, home.recent[0].prompt];
}

/** Two sessions, and a reader that has time for one line in each request. */
async function twoSessions(): Promise<Served> {
  replay.remove();
  replay = new Replay("claude-code", "two-sessions-at-once");
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
  const { context } = contextAt(replay.places);
  const deps = { agents: await allAgents(), loaded: await loadConfigAndPrices(context) };
  const promptLines = promptReader(deps, context, noTime);
  served = await Served.at(replay.places, Date.now, undefined, { promptLines });
  return served;
}

test("rows have the first prompt line, which no file keeps", async () => {
  served = await Served.at(replay.places, Date.now, undefined, { promptLines: await reader() });
  expect(await shownPrompts(served)).toEqual([LINE, LINE, LINE]);
  const { stateDir } = replay.places;
  for (const entry of readdirSync(stateDir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) expect(readFileSync(join(entry.parentPath, entry.name), "latin1")).not.toContain(LINE);
  }
});

test("without a reader no row has one", async () => {
  served = await Served.at(replay.places);
  expect(await shownPrompts(served)).toEqual([null, null, null]);
});

test("each line is read once, and not shown once its project allows nothing to be kept", async () => {
  const promptLines = vi.fn(await reader());
  served = await Served.at(replay.places, Date.now, undefined, { promptLines });
  await shownPrompts(served);
  expect(promptLines).toHaveBeenCalledTimes(1);
  const db = openDatabase(replay.places.storePath);
  limitCapture(db, sessionById(db, 1), "none");
  db.close();
  expect(await shownPrompts(served)).toEqual([null, null, null]);
});

test("a line that could not be read in time comes with the next response", async () => {
  const lines = [new Map<number, string>(), new Map([[1, LINE]])];
  served = await Served.at(replay.places, Date.now, undefined, { promptLines: async () => lines.shift() ?? new Map() });
  const list = JSON.parse((await served.ask("api/sessions")).text);
  expect(list.rows[0].prompt).toBe(null);
  const path = `api/session?source=claude-code&id=${list.rows[0].session_id}`;
  const { headers, text } = await served.ask(path);
  expect([JSON.parse(text).row.prompt, typeof headers["etag"]]).toEqual([LINE, "string"]);
});

test("a response without a line that may exist has no tag, so the page fetches it again", async () => {
  served = await Served.at(replay.places, Date.now, undefined, {
    promptLines: () => Promise.reject(new Error("gone")),
  });
  const [row] = JSON.parse((await served.ask("api/sessions")).text).rows;
  const { status, headers } = await served.ask(`api/session?source=claude-code&id=${row.session_id}`);
  expect([status, headers["etag"]]).toEqual([200, undefined]);
  // With this header the page would ask again and again
  expect(headers[HAS_MORE]).toBe(undefined);
});

test("without any time each response still has one line more, and says so until all are there", async () => {
  const twoServed = await twoSessions();
  const responses: unknown[] = [];
  for (let i = 0; i < 3; i++) {
    const { headers, text } = await twoServed.ask("api/sessions");
    const rows: { prompt: unknown }[] = JSON.parse(text).rows;
    responses.push([rows.filter(({ prompt }) => prompt !== null).length, headers[HAS_MORE]]);
  }
  expect(responses).toEqual([
    [1, "1"],
    [2, undefined],
    [2, undefined],
  ]);
});

test("the page asks again until it has all titles, though the store does not change", async () => {
  await twoSessions();
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${served?.port}${served?.entry}#/sessions`);
    await expect
      .poll(() => page.locator(".sessions a", { hasText: /^Do task (alpha|bravo) in two steps$/ }).count())
      .toBe(2);
  } finally {
    await browser.close();
  }
});

test("other documents are left alone", async () => {
  const usage = { kind: "usage", rows: [] };
  expect(await promptAdder({ storePath: replay.places.storePath, promptLines: await reader() })(usage)).toEqual({
    document: usage,
    isComplete: true,
    hasMore: false,
  });
});
