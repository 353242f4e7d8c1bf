// Slow: only `npm run test:all` runs it. An exported page in Chromium; telemetry/content-levels.test.ts has the capture levels.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";
import { auditNames } from "./audit.mjs";
import { axeFindings } from "./axe.ts";
import { startChromium } from "./chromium.ts";
import { collect, drain } from "./collected.mjs";

const SESSION = "a79b3a9f-1c1f-4101-b0e2-6f245ecf26b3";
let home = "";
let browser: Browser;

beforeAll(async () => {
  await ensureBuilt();
  home = mkdtempSync(join(tmpdir(), "openhook-export-"));
  mkdirSync(join(home, ".config", "openhook-otel"), { recursive: true });
  writeFileSync(join(home, ".config", "openhook-otel", "config.json"), '{ "capture": "full" }');
  const started = startChromium();
  collect(home, join(ROOT, "dist"), [["claude-code", "nested-subagents"]]);
  drain(home, join(ROOT, "dist"));
  browser = await started;
});
afterAll(async () => {
  await browser?.close();
  removeFolder(home);
});

const exported = (...args: readonly string[]) =>
  spawnSync(process.execPath, [PROGRAM, "export", ...args], {
    cwd: home,
    env: { PATH: process.env["PATH"], HOME: home },
    encoding: "utf8",
  });
const pageAt = (level: string): string => exported(SESSION, "--output", "-", "--capture", level).stdout;

test("a session is one file that opens without a server, requests nothing and allows only its own script", async () => {
  const { status, stdout, stderr } = exported(`${SESSION.slice(0, 8)}.html`);
  expect([status, stderr]).toEqual([0, ""]);
  const path = join(home, `${SESSION.slice(0, 8)}.html`);
  expect(stdout).toContain(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);

  const context = await browser.newContext();
  const page = await context.newPage();
  const [requests, messages]: [string[], string[]] = [[], []];
  context.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  await page.goto(pathToFileURL(path).href);
  await page.locator(".row.tool_call").first().click();
  const details = page.getByRole("complementary", { name: "Span details" });
  await details.getByText("As it is sent").click();
  await details.getByText("gen_ai.tool.name").waitFor();
  expect(await details.innerText()).toContain("service.name");
  expect(await page.locator(".findings li").count()).toBeGreaterThan(2);
  expect(await page.locator(".exported").innerText()).toMatch(/capture level metadata$/);
  await page.getByLabel("Search spans").fill("gen_ai.tool.name=read");
  await expect.poll(() => page.locator(".counted").innerText()).toMatch(/^[1-9] of 18 spans$/);
  expect(await page.evaluate(auditNames)).toEqual(["0 of nav"]);
  expect(await axeFindings(page)).toEqual([]);
  expect(messages).toEqual([]);
  await page
    .evaluate(
      "document.body.append(Object.assign(document.createElement('script'), { textContent: 'globalThis.ran = 1' }))",
    )
    .catch(() => {});
  await page.evaluate("fetch('http://127.0.0.1:9/').catch(() => 0)");
  expect(await page.evaluate("globalThis.ran")).toBe(undefined);
  expect(messages.join("\n")).toContain("Content Security Policy");
  expect(requests.filter((url) => url.startsWith("http") && !url.includes("127.0.0.1:9"))).toEqual([]);
  await context.close();
});

test("the file contains what the capture level allows, and no more than what is stored", () => {
  const [none, metadata, redacted, full] = ["none", "metadata", "redacted", "full"].map(pageAt);
  const prompt = "gen_ai.input.messages";
  expect([none, metadata, redacted, full].map((page) => page?.includes(`"${prompt}"`))).toEqual([
    false,
    false,
    true,
    true,
  ]);
  expect([none, metadata].map((page) => page?.includes("acme-shop"))).toEqual([false, true]);
  // The agent's own file, from which the page reads the title, is not read
  expect(full).toContain('"prompt":null');
  // The home folder of the user is part of paths
  expect([none, metadata, redacted].map((page) => page?.includes(home))).toEqual([false, false, false]);
});

test("a path names the session by its file; a name that is none explains how to write the newest", () => {
  mkdirSync(join(home, "shared"));
  const { status } = exported(join("shared", `${SESSION.slice(0, 8)}.html`));
  expect([status, existsSync(join(home, "shared", `${SESSION.slice(0, 8)}.html`))]).toEqual([0, true]);
  const wrong = exported("review.html");
  expect(wrong.status).toBe(1);
  expect(wrong.stderr).toMatch(/no session begins with "review"; .* export --output FILE\n$/);
  expect(existsSync(join(home, "review.html"))).toBe(false);
});

test("an existing file stays, unless --force is given", () => {
  const path = join(home, "mine.html");
  writeFileSync(path, "mine");
  const refused = exported(SESSION, "--output", "mine.html");
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain('mine.html" exists: use --force to replace it');
  expect(readFileSync(path, "utf8")).toBe("mine");
  expect(exported(SESSION, "--output", "mine.html", "--force").status).toBe(0);
  expect(readFileSync(path, "utf8")).toMatch(/^<!doctype html>/);
});
