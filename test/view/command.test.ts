import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { view } from "../../src/commands/view.ts";
import { placesOf } from "../../src/config/places.ts";
import { contextAt } from "../support/context.ts";
import { ensureBuilt, ROOT, until } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";

let home = "";
let stop = new AbortController();
beforeAll(ensureBuilt, 120_000);
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

test("opens the browser with a one-time link, and does not wait for it", async () => {
  const bin = join(home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\necho "$@" > '${home}/opened'\nsleep 2\n`);
  chmodSync(join(bin, "xdg-open"), 0o755);
  const { context, out } = world({ DISPLAY: ":0", PATH: `${bin}:${process.env["PATH"]}` });
  const running = view(options({ open: true }), context);
  await until(
    "it was opened",
    () => existsSync(join(home, "opened")) && readFileSync(join(home, "opened"), "utf8") !== "",
  );
  const opened = readFileSync(join(home, "opened"), "utf8").trim();
  expect(opened).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/);
  expect(out()).not.toContain(opened);
  expect((await fetch(opened, { redirect: "manual" })).status).toBe(303);
  stop.abort();
  expect(await running).toBe(0);
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
