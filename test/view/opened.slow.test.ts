// Slow: only `npm run test:all` runs it. The file that opens the page, in Chromium; view/command.test.ts has what is opened.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { view } from "#commands/view.ts";
import { placesOf } from "#config/places.ts";
import { contextAt } from "../support/context.ts";
import { ensureBuilt, ROOT, until } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";
import { startChromium } from "./chromium.ts";

const home = mkdtempSync(join(tmpdir(), "openhook-opened-"));
const stop = new AbortController();
let browser: Browser;
beforeAll(async () => {
  await ensureBuilt();
  browser = await startChromium();
});
afterAll(async () => {
  stop.abort();
  await browser.close();
  removeFolder(home);
});

test("a real browser gets the page from the file that it is started with, and a second one does not", async () => {
  const opener = join(home, "bin", "xdg-open");
  mkdirSync(join(home, "bin"));
  writeFileSync(
    opener,
    `#!/bin/sh\nprintf %s "$*" > '${home}/opened.part' && mv '${home}/opened.part' '${home}/opened'\n`,
  );
  chmodSync(opener, 0o755);
  const env = { DISPLAY: ":0", PATH: `${join(home, "bin")}:${process.env["PATH"]}` };
  const { context } = contextAt(placesOf({ env: {}, home, platform: "linux" }), { env });
  const options = { port: 0, open: true, printUrl: false, packageRoot: ROOT, stop: stop.signal };
  const running = view(options, context);
  await until("it was opened", () => existsSync(join(home, "opened")));
  const opened = readFileSync(join(home, "opened"), "utf8");
  expect(opened).not.toMatch(/https?:|token/);
  const copy = join(home, "copy.html");
  writeFileSync(copy, readFileSync(new URL(opened)));

  const page = await (await browser.newContext()).newPage();
  await page.goto(opened);
  await page.waitForURL(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{16}\//);
  await page.getByRole("heading").first().waitFor();
  await page.reload();
  await page.getByRole("heading").first().waitFor();

  const other = await (await browser.newContext()).newPage();
  await other.goto(`file://${copy}`);
  await other.getByText("This link was already used").waitFor();
  stop.abort();
  expect(await running).toBe(0);
});
