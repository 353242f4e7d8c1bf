// What was asked and done in a session, as the page gets it; session-story.slow.test.ts has the page in Chromium.
import { renameSync } from "node:fs";
import { afterEach, beforeEach, expect, type Mock, test, vi } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { contentReaders } from "#commands/content.ts";
import { loadConfigAndPrices } from "#config/own-prices.ts";
import type { Documents } from "#show/view/wire/documents.ts";
import { openDatabase } from "#store/database.ts";
import { limitCapture, sessionById } from "#store/sessions.ts";
import { contextAt } from "../support/context.ts";
import { ensureBuilt } from "../support/program.ts";
import { Replay } from "../support/replay.ts";
import { Served } from "./served.ts";

let replay: Replay;
let served: Served | undefined;
/** Reads the lines of a session from the agent's files. */
let readLines: Mock<ReturnType<typeof contentReaders>["contentLines"]>;
beforeEach(async () => {
  await ensureBuilt();
  replay = new Replay("claude-code", "parallel-tools");
  for (const call of replay.calls) replay.put(call);
  await replay.drain({ endIdle: true });
});
afterEach(async () => {
  await served?.close();
  served = undefined;
  replay.remove();
});

/** The page's server with the program's readers. */
async function serve(content: "on" | "off" = "on"): Promise<{ server: Served; one: string; transcript: string }> {
  const { context } = contextAt(replay.places);
  const loaded = await loadConfigAndPrices(context);
  const { config } = loaded;
  const shown = { ...loaded, config: { ...config, display: { ...config.display, content } } };
  const readers = contentReaders({ agents: await allAgents(), loaded: shown }, context);
  readLines = vi.fn(readers.contentLines);
  served = await Served.at(replay.places, Date.now, undefined, { ...readers, contentLines: readLines });
  const db = openDatabase(replay.places.storePath);
  const { source, sessionId, transcriptPath = "" } = sessionById(db, 1);
  db.close();
  return { server: served, one: `source=${source}&id=${sessionId}`, transcript: transcriptPath };
}

type Lines = Documents["lines"];
const linesOf = async (server: Served, one: string): Promise<Lines> =>
  JSON.parse((await server.ask(`api/lines?${one}`)).text);

test("prompts, commands and written files of a session, and the content of each call", async () => {
  const { server, one } = await serve();
  const { state, texts, ids, writes } = await linesOf(server, one);
  expect(state).toBe("whole");
  expect(texts).toHaveLength(ids.length / 16);
  expect(writes.map(({ path, span: _, ...rest }) => ({ ...rest, path: path.replace(/.*acme-shop\//, "") }))).toEqual([
    { path: "src/discount.js", operation: "create", added: 1, removed: 0 },
    { path: "README.md", operation: "update", added: 1, removed: 1 },
  ]);
  for (const { span, path } of writes) {
    const content = JSON.parse((await server.ask(`api/content?${one}&span=${span}`)).text);
    expect(JSON.parse(content.arguments).file_path).toBe(path);
    expect(content.result).toContain(path);
  }
  // Not again for each call that is opened
  expect(readLines).toHaveBeenCalledTimes(1);
});

test("the files are read again once the session has more, and if they had nothing or could not be read", async () => {
  const { server, one, transcript } = await serve();
  readLines.mockRejectedValueOnce(new Error("no descriptor is left"));
  expect((await server.ask(`api/lines?${one}`)).status).toBe(500);
  renameSync(transcript, `${transcript}.gone`);
  expect((await linesOf(server, one)).state).toBe("missing");
  renameSync(`${transcript}.gone`, transcript);
  expect((await linesOf(server, one)).state).toBe("whole");
  await linesOf(server, one);
  expect(readLines).toHaveBeenCalledTimes(3);
  const db = openDatabase(replay.places.storePath);
  db.prepare("UPDATE sessions SET last_ms = last_ms + 1").run();
  db.close();
  await linesOf(server, one);
  expect(readLines).toHaveBeenCalledTimes(4);
});

test("the files are not read again for what happens in other sessions", async () => {
  const { server, one } = await serve();
  const { headers } = await server.ask(`api/lines?${one}`);
  const again = await server.ask(`api/lines?${one}`, { headers: { "if-none-match": String(headers["etag"]) } });
  expect([again.status, again.text]).toEqual([304, ""]);
});

test("a file that is gone: the response says so, and has the written files that are stored", async () => {
  const { server, one, transcript } = await serve();
  renameSync(transcript, `${transcript}.gone`);
  const { state, texts, writes } = await linesOf(server, one);
  expect([state, texts, writes.length]).toEqual(["missing", [], 2]);
});

test.each(["setting", "project"])("nothing is shown if the %s forbids it", async (forbidden) => {
  const { server, one } = await serve(forbidden === "setting" ? "off" : "on");
  const db = openDatabase(replay.places.storePath);
  if (forbidden === "project") limitCapture(db, sessionById(db, 1), "none");
  db.close();
  const response = await server.ask(`api/lines?${one}`);
  expect(JSON.parse(response.text)).toEqual({ kind: "lines", state: "hidden", ids: "", texts: [], writes: [] });
  const { spans } = JSON.parse((await server.ask(`api/session?${one}`)).text);
  for (let at = 0; at < spans.ids.length; at += 16) {
    const span = spans.ids.slice(at, at + 16);
    const content = JSON.parse((await server.ask(`api/content?${one}&span=${span}`)).text);
    expect([content.prompt, content.arguments, content.result, content.answer]).toEqual([null, null, null, null]);
  }
});
