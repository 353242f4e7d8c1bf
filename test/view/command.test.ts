import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { view } from "#commands/view.ts";
import { placesOf } from "#config/places.ts";
import { contextAt } from "../support/context.ts";
import { ensureBuilt, ROOT, until } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";

let home = "";
let stop = new AbortController();
beforeAll(ensureBuilt);
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-view-"));
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  removeFolder(home);
});

const world = (env: Record<string, string> = {}) =>
  contextAt(placesOf({ env: {}, home, platform: "linux" }), { env: { PATH: process.env["PATH"] ?? "", ...env } });
const options = (more: Partial<Parameters<typeof view>[0]> = {}) => ({
  port: 0,
  open: false,
  printUrl: false,
  packageRoot: ROOT,
  stop: stop.signal,
  ...more,
});

test("prints the link, serves until stopped, and leaves no files", async () => {
  const { context, out } = world();
  const running = view(options(), context);
  await until("it has printed the link", () => out().includes("Ctrl-C"));
  const link = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}/.exec(out())?.[0] ?? "";
  const entry = await fetch(link, { redirect: "manual" });
  expect(entry.status).toBe(303);
  stop.abort();
  expect(await running).toBe(0);
  await expect(fetch(link)).rejects.toThrow();
  expect(existsSync(context.places.stateDir)).toBe(false);
});

test("--print-url prints only the address", async () => {
  const { context, out } = world({ DISPLAY: ":0" });
  const running = view(options({ printUrl: true, open: true }), context);
  await until("it has printed the link", () => out() !== "");
  expect(out()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}\n$/);
  stop.abort();
  await running;
});

test("opens the browser with a private file that leads to the page once, and does not wait for it", async () => {
  const bin = join(home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\necho "$@" > '${home}/opened'\nsleep 2\n`);
  chmodSync(join(bin, "xdg-open"), 0o755);
  const { context, out } = world({ DISPLAY: ":0", PATH: `${bin}:${process.env["PATH"]}` });
  const { stateDir } = context.places;
  // Of a `view` that was killed
  const old = join(stateDir, "openhook-otel-view-killed");
  mkdirSync(old, { recursive: true });
  utimesSync(old, 1, 1);
  const running = view(options({ open: true }), context);
  await until(
    "it was opened",
    () => existsSync(join(home, "opened")) && readFileSync(join(home, "opened"), "utf8") !== "",
  );
  const opened = readFileSync(join(home, "opened"), "utf8").trim();
  expect(opened).toMatch(/^file:\/\/\/\S+\/open\.html$/);
  const file = fileURLToPath(opened);
  expect(readdirSync(stateDir)).toEqual([basename(dirname(file))]);
  expect([statSync(file), statSync(dirname(file))].map(({ mode }) => mode & 0o777)).toEqual([0o600, 0o700]);
  const [, link = ""] =
    /content="0;url=(http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43})"/.exec(readFileSync(file, "utf8")) ?? [];
  expect(out()).not.toContain(link);
  expect((await fetch(link, { redirect: "manual" })).status).toBe(303);
  expect(existsSync(dirname(file))).toBe(false);
  expect((await fetch(link, { redirect: "manual" })).status).toBe(401);
  stop.abort();
  expect(await running).toBe(0);
});

test("the file that leads to the page goes when view ends without a browser, and is not needed for the rest", async () => {
  const { context } = world({ DISPLAY: ":0", PATH: join(home, "nothing") });
  const running = view(options({ open: true }), context);
  await until("it was written", () => existsSync(context.places.stateDir));
  stop.abort();
  expect(await running).toBe(0);
  expect(readdirSync(context.places.stateDir)).toEqual([]);
  const own = new AbortController();
  const { context: blocked, out } = world({ DISPLAY: ":0" });
  removeFolder(blocked.places.stateDir);
  writeFileSync(blocked.places.stateDir, "");
  const other = view(options({ open: true, stop: own.signal }), blocked);
  await until("it has printed the link", () => out().includes("Ctrl-C"));
  own.abort();
  expect(await other).toBe(0);
});

test("without a browser it prints the address", async () => {
  for (const env of [{ DISPLAY: ":0", PATH: join(home, "nothing") }, {}] as Record<string, string>[]) {
    const { context, out, err } = world(env);
    const own = new AbortController();
    const running = view(options({ open: true, stop: own.signal }), context);
    await until("it has printed the link", () => out().includes("Ctrl-C"));
    own.abort();
    expect(await running).toBe(0);
    expect(err()).toBe("");
  }
});

test("an occupied port: names it, with a remedy", async () => {
  const other = createServer();
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { context } = world();
  await expect(view(options({ port }), context)).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port}: the port is in use; choose another, or omit --port to use any free one`,
  );
  await new Promise((done) => other.close(done));
});

test("a page that was not built: a remedy", async () => {
  const { context } = world();
  await expect(view(options({ packageRoot: home }), context)).rejects.toThrow(/cannot be read: run npm run build$/);
});
