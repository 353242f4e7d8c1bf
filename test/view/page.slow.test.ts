// Slow: only `npm run test:all` runs it. The page in Chromium; view/server.test.ts has the data.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { placesOf } from "#config/places.ts";
import { changeKey, commitKey } from "#core/rules/change-facts.ts";
import { limitsText, reportedLimitsPath } from "#show/statusline/summary.ts";
import { openDatabase } from "#store/database.ts";
import { addEntries } from "#store/facts.ts";
import { ensureSession } from "#store/sessions.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";
import { auditContrast, auditNames } from "./audit.mjs";
import { axeFindings } from "./axe.ts";
import { startChromium } from "./chromium.ts";
import { callHook, collect, collectLong, drain, type RecordedCall } from "./collected.mjs";

const DIST = join(ROOT, "dist");
const NESTED = "a79b3a9f-1c1f-4101-b0e2-6f245ecf26b3";
const PROMPT = "Deep question";
const LONG = "10000000-5eed-4000-8000-00000000aaaa";
const LONG_SPANS = 3000;
const HOSTILE = "<img src=x onerror=alert(1)>\u202egnp.exe";

let home = "";
let server: ChildProcess;
let link = "";
let browser: Browser;

beforeAll(async () => {
  await ensureBuilt();
  home = mkdtempSync(join(tmpdir(), "openhook-view-"));
  const started = startChromium();
  collect(home, DIST, [
    ["claude-code", "nested-subagents"],
    ["claude-code", "permission-denied"],
    ["codex", "multi-turn"],
  ]);
  collectLong(home, DIST, { spans: LONG_SPANS });
  hostileSession();
  drain(home, DIST);
  changesOfNested();
  budgetAndLimits();
  server = spawn(process.execPath, [PROGRAM, "view", "--print-url"], {
    env: { PATH: process.env["PATH"], HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  link = await new Promise((done) => server.stdout?.once("data", (data: Buffer) => done(data.toString().trim())));
  browser = await started;
});

afterAll(async () => {
  await browser?.close();
  server?.kill("SIGINT");
  if (home !== "") removeFolder(home);
});

describe("the page in Chromium", () => {
  test("home: cost of today and of the period, running sessions, what cost most, and files with the figures", async () => {
    await using look = await opened("#/home?range=all");
    const { page } = look;
    expect(await page.title()).toBe("Home · openhook-otel");
    const tile = (name: string) => page.locator(".tile").filter({ hasText: name }).locator(".figure");
    expect(await tile("Sessions").innerText()).toBe("5");
    expect(await tile("Today").innerText()).toMatch(/^\$\d/);
    const tops = page.locator(".top-list");
    expect(await tops.locator("h2").allInnerTexts()).toEqual(
      ["Repositories", "Models", "Agents", "Tools"].map((title) => expect.stringContaining(title)),
    );
    expect(await tops.filter({ hasText: "Agents" }).locator("tbody tr").first().innerText()).toContain("Claude Code");
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download CSV" }).click(),
    ]);
    expect(saved.suggestedFilename()).toBe("openhook-usage-month-agent-model.csv");
    const lines = readFileSync(await saved.path(), "utf8").split("\r\n");
    expect(lines[0]).toMatch(/^month,agent,model,sessions,/);
    expect(lines.some((line) => line.startsWith("2026-11,claude-code,claude-sonnet-4-5-20250929,"))).toBe(true);
    await page.getByLabel("Time").selectOption("between");
    await page.getByLabel("From", { exact: true }).fill("2026-11-20");
    await page.getByLabel("To", { exact: true }).fill("2026-11-20");
    await soon(() => tile("Sessions").innerText()).toBe("1");
    // One agent, one repository: the tiles say as much
    await soon(() => tops.filter({ hasText: "Agents" }).count()).toBe(0);
    await tile("Sessions").getByRole("link").click();
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await count(page.locator(".sessions tbody tr"), 1);
    expect(page.url()).toMatch(/range=between&from=2026-11-20&to=2026-11-20/);
    expect(await page.title()).toBe("Sessions, between … · openhook-otel");
  });

  test("home: one line each for the month's end, its budget, and the windows of limits, also on a phone", async () => {
    for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
      await using look = await opened("#/home?range=all", { viewport });
      const { page } = look;
      const lines = page.locator(".tile").filter({ hasText: "This month" }).locator(".outlook > span");
      await count(lines, 2);
      expect(await lines.first().innerText()).toMatch(/^(At most )?\$[\d.]+ of \$200 left$/);
      expect(await lines.last().innerText()).toBe("No forecast yet: needs 14 days");
      const limits = page.locator(".limits li");
      await count(limits, 3);
      expect(await limits.allInnerTexts()).toEqual([
        expect.stringMatching(/^Claude Code 5h 23% used, resets \d\d:\d\d, as of \d\d:\d\d$/),
        expect.stringMatching(/^Claude Code 7d unknown since its reset, \d/),
        expect.stringMatching(/^shop no session of a repository with this name$/),
      ]);
      expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(viewport.width);
    }
  });

  test("bars and rows of figures lead to their sessions", async () => {
    await using look = await opened("#/home?range=between&from=2026-11-19&to=2026-11-21");
    const { page } = look;
    const rows = page.locator(".sessions tbody tr");
    const day = page.getByRole("link", { name: /^2026-11-20: \$/ });
    expect(await day.innerText()).toMatch(/\$41\.56\s+20 Nov$/);
    await day.click();
    await count(rows, 1);
    await page.getByRole("link", { name: "Usage" }).click();
    await page.getByLabel("Time").selectOption("all");
    await page.getByLabel("Split cost by").selectOption("agent");
    await page.locator(".figures").getByRole("link", { name: "Codex" }).click();
    await count(rows, 1);
    expect(page.url()).toContain("agent=codex&range=all");
    await page.goBack();
    await page.locator(".chart canvas").first().waitFor();
    const { x, y, width, height } = (await page.locator(".u-over").first().boundingBox()) ?? NO_BOX;
    await page.mouse.click(x + width * 0.99, y + height / 2);
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    expect(page.url()).toMatch(/range=between&from=\d{4}-\d\d-01|from=\d{4}-\d\d-\d\d&to=/);
    await page.goto(page.url().replace(/#.*/, "#/tools?range=all"));
    await page.getByRole("link", { name: "find_issue" }).first().click();
    await page.getByLabel("Only with mcp__tracker__find_issue").waitFor();
    expect(await rows.count()).toBeGreaterThan(0);
    await page.getByLabel("Only with mcp__tracker__find_issue").click();
    await count(rows, 5);
  });

  test("a word of a prompt is found in the agents' files, from any view by a key", async () => {
    await using look = await opened("#/usage?range=all");
    const { page } = look;
    await page.locator(".chart canvas").first().waitFor();
    await page.keyboard.press("/");
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    await soon(() => isFocused(page, "input[type=search]")).toBe(true);
    const word = PROMPT.split(" ").reduce((long, one) => (one.length > long.length ? one : long), "");
    await page.keyboard.type(word);
    const found = page.getByRole("table", { name: "Sessions with the text inside" });
    await found.getByRole("link", { name: PROMPT }).waitFor();
    await page.getByText(/^\d+ sessions?$/).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Control+k");
    expect(await isFocused(page, "input[type=search]")).toBe(true);
  });

  test("shows all sessions, and removes the token from the address", async () => {
    await using look = await opened("#/sessions");
    const { page } = look;
    expect(page.url()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{16}\/#\/sessions$/);
    expect(await page.title()).toBe("Sessions · openhook-otel");
    expect(await page.getByRole("row").count()).toBe(1 + 5);
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Sessions");
    const nested = await page
      .getByRole("row")
      .filter({ has: page.locator(`a[href*="${NESTED}"]`) })
      .innerText();
    for (const text of ["Claude Code", "acme-shop", "main", "4,278", "120", "$0.01", PROMPT]) {
      expect(nested).toContain(text);
    }
  });

  test("going back to the list shows it where it was: with the browser, and with the arrow of a session", async () => {
    await using look = await opened("#/sessions?sort=cost", { viewport: { width: 900, height: 200 } });
    const { page } = look;
    const rows = page.locator(".sessions tbody tr");
    await count(rows, 5);
    const scrolled = () => page.evaluate<number>("Math.round(scrollY)");
    await page.evaluate("scrollTo(0, 90)");
    await soon(scrolled).toBe(90);
    for (const back of ["browser", "arrow"]) {
      await page.evaluate("document.querySelector('.sessions tbody tr:nth-child(3) a').click()");
      await page.locator(".key-figures").waitFor();
      await page.evaluate("scrollTo(0, 0)");
      if (back === "browser") await page.goBack();
      else await page.getByRole("link", { name: "All sessions" }).click();
      await count(rows, 5);
      await soon(scrolled).toBe(90);
      expect(page.url()).toContain("#/sessions?sort=cost");
    }
    // A link from elsewhere leads to its top
    await page.getByRole("link", { name: "Home" }).click();
    await page.getByRole("link", { name: "Sessions", exact: true }).click();
    await count(rows, 5);
    expect(await scrolled()).toBe(0);
  });

  test("filters and sorts, and keeps both in the address", async () => {
    await using look = await opened("#/sessions");
    const { page } = look;
    const rows = page.locator(".sessions tbody tr");
    await page.getByLabel("Agent", { exact: true }).selectOption("codex");
    await count(rows, 1);
    expect(page.url()).toContain("agent=codex");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await count(rows, 5);
    // The one that ended with an error; in the others no more tool calls failed than usual
    await page.getByLabel("Errors only").check();
    await count(rows, 1);
    await soon(() => sessionAt(rows.first())).toContain("hostile");
    await page.getByLabel("Errors only").uncheck();
    await count(rows, 5);
    await page.getByLabel("Search").fill(NESTED.slice(0, 6));
    await count(rows, 1);
    await soon(() => page.locator("h1 + p").textContent()).toBe("1 of 5");
    await page.getByLabel("Search").fill("nothing has this name");
    await page.getByText("No session matches these filters").waitFor();
    await page.getByRole("link", { name: "Show all sessions" }).click();
    await count(rows, 5);
    // In quick succession: neither undoes the other
    await page.getByLabel("Search").fill("acme");
    await page.getByLabel("Errors only").check();
    await soon(() => page.url()).toMatch(/text=acme&errors=1|errors=1&text=acme/);
    await page.getByRole("button", { name: "Clear filters" }).click();
    await count(rows, 5);
    await page.getByRole("button", { name: "Cost" }).click();
    await page.locator("th[aria-sort=descending]", { hasText: "Cost" }).waitFor();
    await soon(() => sessionAt(rows.first())).toContain("10000000");
    await page.getByRole("button", { name: "Cost" }).click();
    await page.locator("th[aria-sort=ascending]", { hasText: "Cost" }).waitFor();
    await soon(() => sessionAt(rows.last())).toContain("10000000");
  });

  test("keyboard only: to a session, through its waterfall, into a span and back", async () => {
    await using look = await opened(`#/sessions?text=${NESTED}`);
    const { page } = look;
    await page.locator(".sessions a").first().focus();
    await page.keyboard.press("Enter");
    const grid = page.getByRole("treegrid");
    await grid.waitFor();
    for (let presses = 0; !(await isFocused(page, "#waterfall")); presses++) {
      if (presses > 30) throw new Error("Tab does not reach the waterfall");
      await page.keyboard.press("Tab");
    }
    const active = async () => page.locator(`#${await grid.getAttribute("aria-activedescendant")}`);
    const labels = () => page.locator(".row .label").allInnerTexts();
    expect(await (await active()).innerText()).toContain("Session");
    expect(await labels()).toHaveLength(18);
    expect(await grid.getAttribute("aria-rowcount")).toBe("19");

    await page.keyboard.press("ArrowDown");
    const turn = await active();
    expect([await turn.getAttribute("aria-level"), await turn.getAttribute("aria-expanded")]).toEqual(["2", "true"]);
    await page.keyboard.press("ArrowLeft");
    await soon(labels).toEqual(["Session", "Turn 1"]);
    expect(await (await active()).getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    expect(await (await active()).innerText()).toContain("claude-sonnet-4-5");
    await page.keyboard.press("End");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const details = page.getByRole("complementary", { name: "Span details" });
    await details.getByText("As it is sent").click();
    await details.getByText("gen_ai.response.id").waitFor();
    await grid.focus();
    expect(await details.innerText()).toContain("1,901 in, 21 out");
    expect(await (await active()).getAttribute("aria-selected")).toBe("true");
    // Details follow the active row
    await page.keyboard.press("ArrowDown");
    await details.getByRole("heading", { name: "Agent", exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await details.waitFor({ state: "detached" });
    expect(await isFocused(page, "#waterfall")).toBe(true);
  });

  test("a session's first prompt line is its heading, not the title, which browsers store", async () => {
    await using look = await opened(`#/session?source=claude-code&id=${NESTED}`);
    await soon(() => look.page.locator("h1").innerText()).toBe(PROMPT);
    expect(await look.page.title()).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d · Claude Code · acme-shop · openhook-otel$/);
  });

  test("zooms by keys, wheel and dragging, and back", async () => {
    await using look = await opened(`#/session?source=claude-code&id=${NESTED}`);
    const { page } = look;
    await page.getByRole("treegrid").waitFor();
    const width = () => page.locator(".row.turn .bar").evaluate((bar) => bar.getBoundingClientRect().width);
    const frame = page.locator(".grid-footer p");
    const whole = await width();
    await page.locator("#waterfall").focus();
    await page.keyboard.press("+");
    await soon(width).toBeGreaterThan(whole * 1.1);
    expect(await frame.innerText()).toMatch(/^In view: /);
    await page.keyboard.press("0");
    await soon(width).toBeCloseTo(whole, 0);
    await page.locator(".row.turn .c-bar").hover();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await soon(width).toBeGreaterThan(whole * 1.1);
    await page.getByRole("button", { name: "Whole session" }).click();
    await soon(width).toBeCloseTo(whole, 0);
    const box = await page.locator(".minimap").boundingBox();
    if (box === null) throw new Error("no minimap");
    await page.mouse.move(box.x + box.width * 0.3, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 12, { steps: 4 });
    await page.mouse.up();
    await soon(() => frame.innerText()).toMatch(/^In view: 2\d\d ms/);
    await page.mouse.dblclick(box.x + box.width * 0.9, box.y + 10);
    await soon(() => frame.innerText()).toBe("");
  });

  test("thousands of spans: only visible rows are in the document, and End reaches the last", async () => {
    await using look = await opened(`#/session?source=claude-code&id=${LONG}`);
    const { page } = look;
    const grid = page.getByRole("treegrid");
    await grid.waitFor();
    // Above 300 spans the turns are closed at first
    expect(await page.locator(".row:not(.session):not(.turn)").count()).toBe(0);
    await page.getByRole("button", { name: "Expand all" }).click();
    await page.locator(".row.tool_call").first().waitFor();
    const rows = Number(await grid.getAttribute("aria-rowcount")) - 1;
    expect(Math.abs(rows - LONG_SPANS)).toBeLessThan(5);
    expect(await page.locator(".row").count()).toBeLessThan(80);
    await grid.focus();
    await page.keyboard.press("End");
    await page.locator(`.row[aria-rowindex="${rows + 1}"]`).waitFor();
    expect(await grid.getAttribute("aria-activedescendant")).toBe(`row-${rows - 1}`);
    expect(await page.locator(".row").count()).toBeLessThan(80);
    // The active row stays in the document at any scroll position
    await grid.evaluate((element) => element.scrollTo(0, 0));
    await page.locator("#row-0").waitFor();
    expect(await page.locator(`#row-${rows - 1}`).count()).toBe(1);
    await page.keyboard.press("Home");
    await page.keyboard.press("n");
    expect(await page.locator(".row.active").getAttribute("class")).toContain("failed");

    await page.getByLabel("Search spans").fill("find_issue");
    const counted = page.locator(".counted");
    await soon(() => counted.innerText()).toMatch(/^\d+ of 3,00\d spans$/);
    const hits = await page.locator(".row.hit .label").allInnerTexts();
    expect(new Set(hits)).toEqual(new Set(["tracker: find_issue"]));
    await page.getByLabel("Errors only").check();
    await soon(() => page.locator(".row.hit:not(.failed)").count()).toBe(0);
    await page.getByLabel("Errors only").uncheck();
    await page.getByLabel("Search spans").fill("");
    await page.getByRole("button", { name: "Turns only" }).click();
    await soon(() => page.locator(".row:not(.session):not(.turn)").count()).toBe(0);
    // A failed span inside a closed turn is opened to
    await page.getByRole("button", { name: "Next failed span" }).click();
    await page.locator(".row.active.failed").waitFor();
    // Attributes are searched too
    await page.getByLabel("Search spans").fill("gen_ai.tool.name=find_issue failed");
    await soon(() => counted.innerText()).toMatch(/^\d\d of 3,00\d spans$/);
    await page.getByLabel("Search spans").fill("");
    await page.getByLabel("Order").selectOption("cost");
    const dollars = async () =>
      (await page.locator(".row.turn .c-cost").allInnerTexts()).map((text) => Number(text.replace("$", "")));
    await soon(async () => (await dollars()).every((cost, i, all) => i === 0 || cost <= (all[i - 1] ?? 0))).toBe(true);
  });

  test("explains the session, and a link leads to one span", async () => {
    await using look = await opened(`#/session?source=claude-code&id=${LONG}`);
    const { page } = look;
    await page.locator(".findings li").first().waitFor();
    expect(await page.locator(".time-bar .legend").innerText()).toMatch(/model\s+\d+%/);
    await page.getByRole("button", { name: /^Turn \d+, \$/ }).click();
    const details = page.getByRole("complementary", { name: "Span details" });
    await details.getByRole("heading", { name: /^Turn \d+$/ }).waitFor();
    await page.locator(".row.turn.active").waitFor();
    await page.locator(".notable button").nth(1).click();
    await details.getByText("As it is sent").click();
    await details.getByText("gen_ai.tool.name").waitFor();
    await soon(() => page.url()).toMatch(/&span=[0-9a-f]{16}$/);
    const label = await page.locator(".row.active .label").innerText();
    const link = await details.getByRole("link", { name: "Link to this span" }).getAttribute("href");
    await page.goto(`${page.url().replace(/#.*/, "")}#/usage`);
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    await page.goto(`${page.url().replace(/#.*/, "")}${link}`);
    await page.locator(".row.tool_call.active[aria-selected=true]").waitFor();
    expect(await page.locator(".row.active .label").innerText()).toBe(label);
  });

  test("renders agents' data as text, never as markup", async () => {
    await using look = await opened(`#/sessions?text=hostile`);
    const { page } = look;
    await page.locator(".sessions a").first().click();
    await page.locator(".row.tool_call").click();
    await page.getByRole("complementary").getByText("As it is sent").click();
    await page.getByRole("complementary").getByText("gen_ai.tool.name").waitFor();
    const label = await page.locator(".row.tool_call .label").innerText();
    expect(label).toBe("<img src=x onerror=alert(1)>\ufffdgnp.exe");
    expect(await page.locator("main").locator("img, script, iframe").count()).toBe(0);
    expect(await page.locator("main").innerText()).not.toContain("\u202e");
    await page.goto(`${new URL(page.url()).origin}${new URL(page.url()).pathname}#/tools?range=all`);
    await page.getByText("<img src=x", { exact: false }).first().waitFor();
    expect(await page.locator("main").locator("img, script, iframe").count()).toBe(0);
  });

  test("follows a session from start to end without a reload", async () => {
    await using look = await opened("#/sessions");
    const { page } = look;
    await page.locator(".live.live").waitFor();
    await page.evaluate("globalThis.notReloaded = true");
    const calls = readFileSync(join(ROOT, "test/agents/claude-code/parallel-tools/hooks.jsonl"), "utf8")
      .replaceAll("/home/dev/", `${home}/`)
      .split("\n")
      .filter((line) => line !== "")
      // It was recorded hours ago, so it would be idle otherwise
      .map((line): RecordedCall => ({ ...JSON.parse(line), received_at: new Date().toISOString() }));
    const before = calls.findIndex(({ event }) => event === "PostToolUse");
    // No drain is started here: the open page has one every two seconds
    for (const call of calls.slice(0, before)) callHook(home, DIST, "claude-code", call);
    await page
      .locator(".sessions tbody tr")
      .filter({ has: page.locator(".badge.open") })
      .waitFor();
    await page.getByRole("link", { name: "Home", exact: true }).click();
    const running = page.locator(".running li.busy");
    await running.waitFor();
    expect(await running.locator(".doing").innerText()).toMatch(/^Running \w+( and \d more tools?)?, [\d.]+ m?s$/);
    await page.setViewportSize({ width: 390, height: 844 });
    const overflowing = await running.evaluate((card) => {
      for (const part of card.querySelectorAll(".prompt, .doing, a")) part.textContent = "unusually_long_".repeat(12);
      const { right } = card.getBoundingClientRect();
      return [...card.children]
        .filter((part) => part.getBoundingClientRect().right > right)
        .map((part) => part.className);
    });
    expect(overflowing).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 720 });
    await running.locator("a").click();
    await page.locator(".row.running").first().waitFor();
    expect(await page.locator("h1").innerText()).toContain("open");
    for (const call of calls.slice(before)) callHook(home, DIST, "claude-code", call);
    await page.locator("h1 .badge.open").waitFor({ state: "detached" });
    await soon(() => page.locator(".row.running").count()).toBe(0);
    expect(await page.evaluate("globalThis.notReloaded")).toBe(true);
  });

  test("changes: cost of commits, the sessions behind them, and from a session to what it led to", async () => {
    await using look = await opened("#/changes?range=all&by=commit");
    const { page } = look;
    const rows = page.locator(".changes tbody:not(.sums) > tr:first-child");
    await count(rows, 2);
    expect(await rows.first().innerText()).toMatch(/^aaaaaaaaaa\s+observed[\s\S]*\$0\.01[\s\S]*not checked yet/);
    expect(await rows.nth(1).innerText()).toMatch(/^bbbbbbbbbb\s+inferred/);
    const dollars = async (name: string) =>
      Number(
        (
          await page
            .locator(".sums tr")
            .filter({ hasText: name })
            .locator("[data-name=Cost] span")
            .getAttribute("title")
        )?.slice(1),
      );
    expect(await dollars("All sessions")).toBeGreaterThan(await dollars("Without a known commit"));
    await rows
      .first()
      .getByRole("button", { name: /^1 session/ })
      .click();
    expect(await page.locator(".behind li").innerText()).toMatch(/^\d+ Nov 2026, \d\d:\d\d /);
    await page.locator(".behind").getByRole("link", { name: PROMPT }).click();
    await page.getByRole("heading", { name: PROMPT }).waitFor();
    await page.getByRole("link", { name: "2 commits, 1 inferred" }).click();
    await page.getByText(`Only session ${NESTED}.`).waitFor();
    await page.getByRole("button", { name: "Show all commits" }).click();
    await page.getByLabel("By", { exact: true }).selectOption("change");
    await page.getByRole("link", { name: "acme/shop#12" }).waitFor();
    expect(await page.getByRole("link", { name: "acme/shop#12" }).getAttribute("rel")).toBe("noopener noreferrer");
    await page.getByLabel("By", { exact: true }).selectOption("ticket");
    await page.getByRole("heading", { name: "No ticket is known in this period" }).waitFor();
  });

  test("usage and tools: figures, charts and tables", async () => {
    await using look = await opened("#/usage?range=all");
    const { page } = look;
    await page.locator(".chart canvas").first().waitFor();
    expect(await page.locator(".chart canvas").count()).toBe(2);
    const haiku = page.getByRole("table").first().getByText("claude-haiku-4-5", { exact: true });
    expect(await haiku.getAttribute("title")).toBe("claude-haiku-4-5-20251001");
    expect(await page.getByRole("columnheader", { name: "Cost" }).first().isVisible()).toBe(true);
    expect(await page.getByRole("columnheader", { name: "From cache" }).count()).toBe(0);
    await page.getByLabel("Cache reads", { exact: true }).check();
    await page.getByRole("columnheader", { name: "From cache" }).first().waitFor();
    await page.getByLabel("Split cost by").selectOption("agent");
    await page.getByRole("heading", { name: "By agent" }).waitFor();
    expect(await page.getByRole("table").first().innerText()).toContain("Codex");
    await page.getByRole("link", { name: "Tools", exact: true }).click();
    await page.getByRole("heading", { name: "Tools", level: 1 }).waitFor();
    await page.getByLabel("Time").selectOption("all");
    const servers = page.getByRole("table").first();
    await page.getByRole("heading", { name: "By MCP server" }).waitFor();
    expect(await servers.innerText()).toContain("tracker");
    await servers.getByRole("button", { name: "tracker" }).click();
    await page.getByRole("heading", { name: "Tools of tracker" }).waitFor();
    expect(await page.getByRole("table").last().locator("tbody tr").count()).toBe(1);
  });

  test("the cache share refers to input of calls that report cache reads, as in the report", async () => {
    await using look = await opened("#/usage?range=all");
    const tile = look.page.locator(".tile").filter({ hasText: "Input tokens" });
    await tile.waitFor();
    const before = await tile.locator(".note").innerText();
    const time = new Date(Date.UTC(2026, 10, 21, 7, 1)).toISOString();
    const end = { input_tokens: 3_000_000, output_tokens: 1 };
    const envelope = {
      openhook: "0.1",
      id: "told",
      source: "acme-agent",
      session_id: "told",
      time,
      type: "session.end",
      data: end,
    };
    callHook(home, DIST, "openhook", { event: "session.end", received_at: time, stdin: envelope });
    drain(home, DIST);
    await soon(() => tile.locator(".note").innerText()).toBe(`${before}, where reported`);
  });

  test("on a phone every figure of usage and tools is visible with its label", async () => {
    await using look = await opened("#/usage?range=all", { viewport: PHONE });
    const { page } = look;
    const cells = () =>
      page.evaluate<{ name: string; label: string; right: number }[]>(
        `[...document.querySelectorAll(".figures td.number")].map((cell) => ({
          name: cell.dataset.name,
          label: getComputedStyle(cell, "::before").content,
          right: cell.getBoundingClientRect().right,
        }))`,
      );
    await page.locator('.figures td[data-name="Cost"]').first().waitFor();
    const usage = await cells();
    await page.goto(page.url().replace(/#.*/, "#/tools?range=all"));
    await page.locator('.figures td[data-name="Calls"]').first().waitFor();
    for (const { name, label, right } of [...usage, ...(await cells())]) {
      expect(right).toBeLessThanOrEqual(PHONE.width);
      // The cost is beside the name, without a label
      expect(label).toBe(name === "Cost" ? "none" : JSON.stringify(name));
    }
    await page.getByRole("button", { name: "Time", exact: true }).first().click();
    expect(await page.locator("th[aria-sort]").first().innerText()).toContain("Time");
  });

  test.each(["light", "dark"] as const)("is accessible: %s, on a wide screen and on a phone", async (colorScheme) => {
    for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
      await using look = await opened("", { colorScheme, viewport });
      const { page } = look;
      const base = page.url().replace(/#.*/, "");
      const views = [
        "home?range=all",
        "sessions",
        `session?source=claude-code&id=${NESTED}`,
        "changes?range=all&by=commit",
        "usage?range=all",
        "tools?range=all",
        "insights?range=all",
        "sessions?text=zzz",
      ];
      for (const view of views) {
        await page.goto(`${base}#/${view}`);
        await page.locator("h1").waitFor();
        if (view.startsWith("changes?"))
          await page
            .getByRole("button", { name: /^1 session/ })
            .first()
            .click();
        if (view.startsWith("session?")) {
          await page.locator(".row.tool_call").first().click();
          await page.getByText("As it is sent").click();
          await page.locator(".attributes").first().waitFor();
        }
        expect([view, await page.evaluate(auditNames)]).toEqual([view, []]);
        expect([view, await axeFindings(page)]).toEqual([view, []]);
        const contrast = await page.evaluate(auditContrast);
        expect([view, contrast.found]).toEqual([view, []]);
        expect(contrast.looked).toBeGreaterThan(8);
        const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
        expect([view, wide]).toEqual([view, viewport.width]);
      }
    }
  });

  test("the content security policy blocks and reports foreign scripts and requests", async () => {
    const look = await opened();
    const { page, violations } = look;
    await page
      .evaluate(
        "document.body.append(Object.assign(document.createElement('script'), { src: 'http://127.0.0.1:9/x.js' }))",
      )
      .catch(() => {});
    await page.evaluate("fetch('http://127.0.0.1:9/').catch(() => 0)");
    await page.evaluate(
      "document.body.setAttribute('style', 'color: red'), document.body.append(Object.assign(document.createElement('style'), { textContent: 'p { color: red }' }))",
    );
    await soon(async () => (await violations()).length).toBeGreaterThanOrEqual(3);
    expect(await page.evaluate("try { document.body.innerHTML = '<p>x'; 'taken' } catch { 'refused' }")).toBe(
      "refused",
    );
    await look.context.close();
  });

  test("an empty store: every view explains how to fill it", async () => {
    const bare = mkdtempSync(join(tmpdir(), "openhook-view-"));
    const env = { PATH: process.env["PATH"], HOME: bare };
    spawnSync(process.execPath, [PROGRAM, "drain"], { env });
    const own = spawn(process.execPath, [PROGRAM, "view", "--print-url"], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const address = new Promise<string>((done) =>
        own.stdout.once("data", (data: Buffer) => done(data.toString().trim())),
      );
      await page.goto(await address);
      for (const view of ["Home", "Sessions", "Changes", "Usage", "Tools", "Insights"]) {
        await page.getByRole("link", { name: view, exact: true }).click();
        await page.getByRole("heading", { name: view, level: 1 }).waitFor();
        const advice = page.locator(".placeholder code", { hasText: /^node dist\/openhook-otel\.cjs start$/ });
        await soon(async () => (await advice.count()) === 1).toBe(true);
      }
    } finally {
      await context.close();
      const ended = new Promise((done) => own.once("exit", done));
      own.kill("SIGKILL");
      await ended;
      removeFolder(bare);
    }
  });

  test("the program ends: the page shows it, with a remedy", async () => {
    const own = spawn(process.execPath, [PROGRAM, "view", "--print-url"], {
      env: { PATH: process.env["PATH"], HOME: home },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const address = await new Promise<string>((done) =>
      own.stdout.once("data", (data: Buffer) => done(data.toString().trim())),
    );
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(address);
      await page.locator(".live.live").waitFor();
      const ended = new Promise((done) => own.once("exit", done));
      own.kill("SIGINT");
      expect(await ended).toBe(0);
      await page.locator(".live.lost").waitFor();
      await page.getByRole("link", { name: "Usage" }).click();
      await page.getByText(`Run node dist/openhook-otel.cjs view and open the link that it prints.`).waitFor();
    } finally {
      await context.close();
      own.kill("SIGKILL");
    }
  });
});

// --- internal ---

/** A budget of the month and of a repository; one limit that is running, and one that was reset. */
function budgetAndLimits(): void {
  const places = placesOf({ env: {}, home, platform: process.platform });
  mkdirSync(dirname(places.configPath), { recursive: true });
  writeFileSync(places.configPath, JSON.stringify({ budget: { month: 200, repositories: { shop: 5 } } }));
  const limits = [
    { window: "five_hour", percent: 23.5, resetsAtMs: Date.now() + 3_600_000 },
    { window: "seven_day", percent: 41, resetsAtMs: Date.now() - 60_000 },
  ] as const;
  writeFileSync(reportedLimitsPath(places.stateDir, "claude-code"), limitsText(limits));
}

const PHONE = { width: 390, height: 844 };

interface Look {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly violations: () => Promise<readonly string[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The page in a separate browser. At the end, no request may have been blocked, logged or sent to another server. */
async function opened(hash = "", options: Parameters<Browser["newContext"]>[0] = {}): Promise<Look> {
  const context = await browser.newContext(options);
  // Other writers to the disk can delay a commit for long
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const requests: string[] = [];
  const messages: string[] = [];
  context.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => messages.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => messages.push(String(error)));
  await page.addInitScript(
    "globalThis.violated = []; addEventListener('securitypolicyviolation', (event) => violated.push(event.violatedDirective + ' ' + event.blockedURI), true)",
  );
  const violations = () => page.evaluate<readonly string[]>("violated");
  // Immediately: otherwise content of another view would stay until this one has its response
  await page.goto(`${link}${hash}`);
  await page.locator("h1").waitFor();
  return {
    page,
    context,
    violations,
    async [Symbol.asyncDispose]() {
      const refused = await violations().catch(() => []);
      await context.close();
      expect(refused).toEqual([]);
      expect(messages).toEqual([]);
      expect(new Set(requests.map((url) => new URL(url).origin))).toEqual(new Set([new URL(link).origin]));
    },
  };
}

/** Retries until the condition holds. */
const soon = <T>(look: () => T) => expect.poll(look);

const count = (rows: { count(): Promise<number> }, n: number) => soon(() => rows.count()).toBe(n);

/** Where a row of the list leads: its session. */
const sessionAt = (row: Locator): Promise<string | null> => row.getByRole("link").getAttribute("href");

const NO_BOX = { x: 0, y: 0, width: 0, height: 0 };

const isFocused = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) === true`);

/** Two commits and a pull request, as a drain stores what tool calls print. */
function changesOfNested(): void {
  const db = openDatabase(join(home, ".local", "state", "openhook-otel", "store.db"));
  const session = ensureSession(db, "claude-code", NESTED, 0);
  const { first, last } = db
    .prepare("SELECT min(end_ms) AS first, max(end_ms) AS last FROM model_calls WHERE session = ?")
    .get(session.id) as { first: number; last: number };
  const commit = (digit: string, timeMs: number, certainty: "observed" | "inferred") => {
    const id = digit.repeat(40);
    return { kind: "commit" as const, key: commitKey(id), commit: id, timeMs, certainty, how: "printed" as const };
  };
  const pull = { changeKind: "pull_request" as const, change: "12", url: "https://git.example/acme/shop/pull/12" };
  addEntries(db, session, [
    commit("a", (first + last) / 2, "observed"),
    commit("b", last, "inferred"),
    {
      kind: "change",
      key: changeKey(pull),
      ...pull,
      timeMs: last,
      certainty: "observed",
      how: "printed",
      isCreated: true,
    },
  ]);
  db.close();
}

/** From a tool that uses OpenHook, with unlikely names. */
function hostileSession(): void {
  const time = (s: number): string => new Date(Date.UTC(2026, 10, 21, 7, 0, s)).toISOString();
  const envelopes = [
    { type: "session.start", cwd: "/home/dev/<b>bold</b>" },
    { type: "prompt.submit" },
    { type: "tool.start", data: { tool_name: HOSTILE, tool_call_id: "1" } },
    { type: "tool.end", data: { tool_name: HOSTILE, tool_call_id: "1", status: "error" } },
    { type: "session.end", data: { reason: "error" } },
  ];
  for (const [i, rest] of envelopes.entries()) {
    const envelope = {
      openhook: "0.1",
      id: `hostile-${i}`,
      source: "acme-agent",
      session_id: `hostile-${HOSTILE}`,
      time: time(i),
      ...rest,
    };
    callHook(home, DIST, "openhook", { event: rest.type, received_at: time(i), stdin: envelope });
  }
}
