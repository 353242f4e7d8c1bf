// Slow: only `npm run test:all` runs it. The page in Chromium while sessions run; view/server.test.ts has the data.
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { liveDrains } from "#show/view/live-drains.ts";
import { type Database, openDatabase } from "#store/database.ts";
import { ensureSession } from "#store/sessions.ts";
import { InboxFixture } from "../support/inbox-fixture.ts";
import { ensureBuilt } from "../support/program.ts";
import { startChromium } from "./chromium.ts";
import { Served } from "./served.ts";

const MINUTE_MS = 60_000;

let browser: Browser;
let own: InboxFixture;
let db: Database;
let served: Served;
let drains = 0;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  await ensureBuilt();
  browser = await startChromium();
});
afterAll(() => browser?.close());

beforeEach(async () => {
  own = new InboxFixture();
  db = openDatabase(own.places.storePath);
  drains = 0;
  served = await Served.at(own.places, Date.now, async () => {
    drains++;
  });
  context = await browser.newContext({ timezoneId: "Asia/Kolkata" });
  page = await context.newPage();
});
afterEach(async () => {
  await context.close();
  await served.close();
  db.close();
  own.remove();
});

describe("a page that stays open", () => {
  test("keeps shown sessions when newer ones appear above", async () => {
    const startMs = Date.now() - 1000 * MINUTE_MS;
    for (let n = 0; n < 130; n++) ensureSession(db, "acme", `old-${n}`, startMs + n * MINUTE_MS);
    await open("#/sessions");
    await count(50);
    await page.getByRole("button", { name: "Show more" }).click();
    await count(100);
    await page.getByRole("button", { name: "Show more" }).click();
    await count(130);
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    for (let n = 0; n < 7; n++) ensureSession(db, "acme", `new-${n}`, Date.now());
    await page.locator(".heading [role=status]").filter({ hasText: "137" }).waitFor();
    // One line each, and two on a phone
    const onScreen = () =>
      page.evaluate<number>(
        `[...document.querySelectorAll(".sessions tr")].filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length - 1`,
      );
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(await onScreen()).toBeGreaterThanOrEqual(20);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await onScreen()).toBeGreaterThanOrEqual(6);
    await page.setViewportSize({ width: 1280, height: 720 });
    // Nothing is missing between the first and the last one, and the button loads the rest
    const links = await page.locator(".sessions a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
    const shown = links.map((href) => new URLSearchParams(href?.split("?")[1]).get("id") ?? "");
    expect(shown.filter((id) => id.startsWith("old-"))).toEqual(
      Array.from({ length: 130 }, (_, n) => `old-${129 - n}`),
    );
  });

  test("shows a store that changes faster than it can be read", async () => {
    let running = 0;
    let most = 0;
    await page.route("**/api/usage?*", async (route) => {
      most = Math.max(most, ++running);
      await new Promise((done) => setTimeout(done, 1500));
      await route.continue().catch(() => {});
      running--;
    });
    ensureSession(db, "acme", "first", Date.now());
    let n = 0;
    const writing = setInterval(() => ensureSession(db, "acme", `s-${n++}`, Date.now()), 200);
    try {
      await open("#/usage");
      await page.locator(".filters").waitFor();
      expect(most).toBe(1);
    } finally {
      clearInterval(writing);
    }
  });

  test("switches to the new day after midnight, even without activity", async () => {
    const midnightMs = Date.parse("2026-11-20T00:00:00+05:30");
    await page.clock.install({ time: midnightMs - 10 * MINUTE_MS });
    await page.addInitScript(
      "globalThis.EventSource = class extends EventSource { constructor(url) { super(url); globalThis.line = this; } }",
    );
    ensureSession(db, "acme", "yesterday", midnightMs - 60 * MINUTE_MS);
    await open("#/sessions?range=today");
    await count(1);
    await page.clock.fastForward(20 * MINUTE_MS);
    // The server sends this every 20 seconds
    await page.evaluate("line.dispatchEvent(new MessageEvent('heartbeat'))");
    await page.getByText("No session matches these filters").waitFor();
  });
});

describe("drains", () => {
  test("run every two seconds while a page is open, not without one, nor while it is hidden", async () => {
    await new Promise((done) => setTimeout(done, 100));
    expect(drains).toBe(0);
    await open("#/sessions");
    await expect.poll(() => drains).toBeGreaterThanOrEqual(2);
    await page.evaluate(
      "Object.defineProperty(document, 'hidden', { value: true, configurable: true }), document.dispatchEvent(new Event('visibilitychange'))",
    );
    await page.getByText("Paused").waitFor();
    ensureSession(db, "acme", "while-hidden", Date.now());
    // The server notices the closed connection
    await new Promise((done) => setTimeout(done, 300));
    const before = drains;
    await new Promise((done) => setTimeout(done, 2300));
    expect(drains).toBe(before);
    await page.evaluate("delete document.hidden, document.dispatchEvent(new Event('visibilitychange'))");
    await page.locator(".live.live").waitFor();
    await count(1);
    await expect.poll(() => drains).toBeGreaterThan(before);
  });

  test("never overlap, and closing waits for the running one", async () => {
    vi.useFakeTimers();
    try {
      let [running, most, ended] = [0, 0, 0];
      const live = liveDrains(async () => {
        most = Math.max(most, ++running);
        await new Promise((done) => setTimeout(done, 5000));
        running--;
        ended++;
      });
      const leave = [live.join(), live.join()];
      await vi.advanceTimersByTimeAsync(8_000);
      expect([most, ended]).toEqual([1, 1]);
      leave[0]?.();
      leave[0]?.();
      expect(running).toBe(1);
      let isClosed = false;
      const closing = live.close().then(() => {
        isClosed = true;
      });
      await vi.advanceTimersByTimeAsync(100);
      expect(isClosed).toBe(false);
      await vi.advanceTimersByTimeAsync(5000);
      await closing;
      await vi.advanceTimersByTimeAsync(60_000);
      expect([running, ended]).toEqual([0, 2]);
      leave[1]?.();
    } finally {
      vi.useRealTimers();
    }
  });
});

// --- internal ---

async function open(hash: string): Promise<void> {
  await page.goto(`${served.link}${hash}`);
  await page.locator(".live.live").waitFor();
}

const count = (n: number) => expect.poll(() => page.locator(".sessions tbody tr").count()).toBe(n);
