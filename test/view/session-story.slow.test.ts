// Slow: only `npm run test:all` runs it. What was asked and done in a session, on its page in Chromium; content.test.ts has the data.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";
import { auditContrast, auditNames } from "./audit.mjs";
import { axeFindings } from "./axe.ts";
import { startChromium } from "./chromium.ts";
import { drain } from "./collected.mjs";
import { collectStory, PROMPTS, STORY } from "./story.mjs";

const DIST = join(ROOT, "dist");
const WIDE = { width: 1440, height: 900 };
const TOOLS = ["Grep", "Read", "Bash", "Edit", "Write", "NotebookEdit", "tracker: find_issue", "WebFetch"];
const PHONE = { width: 390, height: 844 };

let browser: Browser;
/** With the default capture level, and with `full`. */
const homes: string[] = [];
const servers: ChildProcess[] = [];
let transcripts: readonly string[] = [];

beforeAll(async () => {
  await ensureBuilt();
  const started = startChromium();
  transcripts = ["metadata", "full"].map((capture) => {
    const home = mkdtempSync(join(tmpdir(), "openhook-story-"));
    homes.push(home);
    configure(home, { capture });
    const { transcript } = collectStory(home, DIST);
    drain(home, DIST);
    return transcript;
  });
  browser = await started;
});
afterAll(async () => {
  await browser?.close();
  for (const server of servers) server.kill("SIGINT");
  for (const home of homes) removeFolder(home);
});

const configure = (home: string, config: object): void => {
  mkdirSync(join(home, ".config", "openhook-otel"), { recursive: true });
  writeFileSync(join(home, ".config", "openhook-otel", "config.json"), JSON.stringify(config));
};

async function linkOf(home: string): Promise<string> {
  const server = spawn(process.execPath, [PROGRAM, "view", "--print-url"], {
    env: { PATH: process.env["PATH"], HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  servers.push(server);
  return new Promise((done) => server.stdout.once("data", (data: Buffer) => done(data.toString().trim())));
}

/** The session's page. At its end nothing may have been blocked or logged. */
async function opened(home: string, options: Parameters<Browser["newContext"]>[0] = { viewport: WIDE }) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const messages: string[] = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  await page.goto(`${await linkOf(home)}#/session?source=claude-code&id=${STORY}`);
  await page.locator(".row").first().waitFor();
  return {
    page,
    context,
    async [Symbol.asyncDispose]() {
      await context.close();
      expect(messages).toEqual([]);
    },
  };
}

const detailsOf = (page: Page) => page.getByRole("complementary", { name: "Span details" });
const rowOf = (page: Page, text: string) => page.locator(".row", { hasText: text }).first();
const partOf = (page: Page, name: string) =>
  detailsOf(page).locator(".content").filter({ hasText: name }).locator("pre");

test("prompts stand at turns, commands, files, patterns and addresses at calls; the search finds them", async () => {
  await using look = await opened(homes[0] ?? "");
  const { page } = look;
  await rowOf(page, PROMPTS[0] ?? "").waitFor();
  const rows = await page.locator(".row .c-name").allInnerTexts();
  const calls = [
    ["Grep", "voucher"],
    ["Read", "src/cart.ts"],
    ["Bash", "npm test -- cart"],
    ["Edit", "src/cart.ts"],
    ["tracker: find_issue", "rounding of vouchers"],
    ["WebFetch", "https://docs.example/rounding"],
  ];
  for (const [tool, about] of calls) {
    expect(
      rows.map((row) =>
        row
          .replaceAll("✗", "")
          .split(/\s*\n\s*/)
          .filter(Boolean),
      ),
    ).toContainEqual(expect.arrayContaining([expect.stringContaining(tool ?? ""), about]));
  }
  const labels = await page.locator(".row .label").allInnerTexts();
  // The program of a command is not repeated; a model's date is under the pointer
  expect(new Set(labels)).toEqual(
    new Set(["Session", ...PROMPTS.map((_, i) => `Turn ${i + 1}`), "claude-sonnet-4-5", ...TOOLS]),
  );
  expect(await page.getByTitle("claude-sonnet-4-5-20250929", { exact: true }).count()).toBeGreaterThan(0);
  // The bar of the most expensive turn has the whole width
  const bars = await page.locator(".cost-bar").evaluateAll((all) => all.map((bar) => bar.getAttribute("style")));
  expect(bars).toHaveLength(PROMPTS.length);
  expect(bars.filter((style) => style === "width: 100%;")).toHaveLength(1);
  await page.getByLabel("Search spans").fill("docs.example/rounding");
  await expect.poll(() => page.locator(".row.hit .label").allInnerTexts()).toEqual(["WebFetch"]);
  expect(await page.getByText("Prompts and commands are not shown").count()).toBe(0);
});

test("details have prompt and answer of a turn and the diff of an edit, above what is sent, which is folded", async () => {
  await using look = await opened(homes[0] ?? "");
  const { page } = look;
  await rowOf(page, "Turn 2").click();
  await partOf(page, "Prompt").waitFor();
  expect((await partOf(page, "Prompt").innerText()).trim()).toBe(PROMPTS[1]);
  expect(await partOf(page, "Answer").innerText()).toContain("whole cents");
  await rowOf(page, "Edit").click();
  await detailsOf(page).locator(".content .removed").waitFor();
  expect(await detailsOf(page).locator(".content .removed").allInnerTexts()).toEqual(["- return sum * 0.9;\n"]);
  expect(await detailsOf(page).locator(".content .added").allInnerTexts()).toEqual([
    "+ return cents(sum);\n",
    "+ // whole\n",
  ]);
  const sent = detailsOf(page).getByText("gen_ai.tool.name");
  expect(await sent.isVisible()).toBe(false);
  await detailsOf(page).getByText("As it is sent").click();
  await sent.waitFor();
  // It stays open for the next span
  await rowOf(page, "Grep").click();
  await detailsOf(page).getByRole("heading", { name: "Grep" }).waitFor();
  await sent.waitFor();
});

test("changed files of session and turn have their lines and lead to their calls; what nobody counted is unknown", async () => {
  await using look = await opened(homes[0] ?? "");
  const { page } = look;
  await page.getByRole("button", { name: "3 files" }).click();
  const files = page.locator(".explanation .files li");
  await expect.poll(() => files.count()).toBe(3);
  const shown = async () => (await files.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "));
  expect(await shown()).toEqual([
    "src/cart.ts +2 −1 Edit",
    "src/cents.ts +1 −0 new Write",
    "sums.ipynb lines unknown NotebookEdit",
  ]);
  await files.first().getByRole("button", { name: "Edit" }).click();
  await detailsOf(page).getByRole("heading", { name: "Edit", exact: true }).waitFor();
  expect(await page.locator(".row[aria-selected=true]").innerText()).toContain("src/cart.ts");
  await rowOf(page, "Turn 1").click();
  await detailsOf(page).getByRole("heading", { name: "Turn 1" }).waitFor();
  expect(await detailsOf(page).locator(".files").count()).toBe(0);
  await rowOf(page, "Turn 2").click();
  await expect.poll(() => detailsOf(page).locator(".files li").count()).toBe(3);
});

test("a call that did not read the cache is there with its cause and cost, and leads to its row; the strip has the context", async () => {
  await using look = await opened(homes[0] ?? "");
  const { page } = look;
  await page.getByRole("button", { name: "More", exact: true }).click();
  const misses = page.locator(".cache-misses li");
  await expect
    .poll(() => misses.allInnerTexts())
    .toEqual(["Turn 2: 40.0k tokens, $0.14 more: tools changed, says the provider"]);
  await misses.getByRole("button").click();
  await detailsOf(page).getByRole("heading", { name: "claude-sonnet-4-5" }).waitFor();
  await detailsOf(page).getByText("As it is sent").click();
  await detailsOf(page).getByText("openhook.cache.miss.cause").waitFor();
  expect(await page.locator(".minimap").getAttribute("title")).toContain("the context, up to 42.4k tokens");
});

test("markup, escape sequences and marks that turn text around are shown as text; long lines are folded", async () => {
  await using look = await opened(homes[0] ?? "");
  const { page } = look;
  await rowOf(page, "Turn 3").click();
  await partOf(page, "Answer").waitFor();
  for (const part of ["Prompt", "Answer"]) {
    expect(await partOf(page, part).innerText()).toContain(
      "<img src=x onerror=alert(1)> \\u{1b}[31mred \\u{202e}gnp.exe",
    );
  }
  await rowOf(page, "echo").click();
  await partOf(page, "Result").waitFor();
  const length = async () => (await partOf(page, "Result").innerText()).length;
  expect(await length()).toBeLessThan(4_200);
  await detailsOf(page)
    .getByRole("button", { name: /^Show all: 2 lines, / })
    .click();
  expect(await length()).toBeLessThan(70_000);
  const text = await page.locator("main").innerText();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be on the page
  expect(text).not.toMatch(/[\u001b\u202e\u200b]/);
  expect(await page.locator("main").locator("img, script, iframe").count()).toBe(0);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(WIDE.width);
});

test("the title comes first, the id is copied, and rows begin on the upper third", async () => {
  await using look = await opened(homes[0] ?? "");
  const { page, context } = look;
  expect(await page.locator("h1").innerText()).toBe(PROMPTS[0]);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy id" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(STORY);
  await page.locator(".findings li").first().waitFor();
  const measured = () =>
    page.evaluate<{ top: number; rows: number; toolbar: number }>(
      `({
        top: document.querySelector("#waterfall").getBoundingClientRect().top,
        rows: [...document.querySelectorAll(".row")].filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length,
        toolbar: document.querySelector(".toolbar").getBoundingClientRect().height,
      })`,
    );
  const before = await measured();
  expect(before.top).toBeLessThanOrEqual(300);
  expect(before.rows).toBeGreaterThanOrEqual(22);
  await rowOf(page, "Grep").click();
  await detailsOf(page).waitFor();
  // The toolbar has one row beside open details too
  expect((await measured()).toolbar).toBe(before.toolbar);
  expect(before.toolbar).toBeLessThan(50);
  const cut = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.toolbar'))";
  expect(await page.evaluate(cut)).toBe(0);
});

test("on a phone, figures and the first rows are on the first screen", async () => {
  await using look = await opened(homes[0] ?? "", { viewport: PHONE, hasTouch: true });
  const { page } = look;
  await page.locator(".findings li").first().waitFor();
  const bottom = (selector: string) =>
    page.evaluate<number>(`document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().bottom`);
  expect(await bottom(".key-figures dd")).toBeLessThan(PHONE.height / 3);
  expect(await bottom("#row-2")).toBeLessThan(PHONE.height);
  // Prompts and commands arrive after the rows
  await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBe(PHONE.width);
});

test.each(["light", "dark"] as const)("everything unfolded is accessible: %s", async (colorScheme) => {
  for (const viewport of [WIDE, PHONE]) {
    await using look = await opened(homes[0] ?? "", { viewport, colorScheme });
    const { page } = look;
    await page.getByRole("button", { name: "More", exact: true }).click();
    await page.locator(".explanation .files li").first().waitFor();
    await rowOf(page, "Turn 2").click();
    await partOf(page, "Answer").waitFor();
    await detailsOf(page).getByText("As it is sent").click();
    expect(await page.evaluate(auditNames)).toEqual([]);
    expect(await axeFindings(page)).toEqual([]);
    expect((await page.evaluate(auditContrast)).found).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(viewport.width);
  }
});

test("without the agent's file: stored content is shown as text, otherwise one note says what is missing", async () => {
  for (const transcript of transcripts) renameSync(transcript, `${transcript}.gone`);
  try {
    await using look = await opened(homes[0] ?? "");
    await look.page.getByText("Prompts and commands are not shown: the agent’s file").waitFor();
    await rowOf(look.page, "Edit").click();
    await detailsOf(look.page).getByText("src/cart.ts").waitFor();
    expect(await detailsOf(look.page).locator(".content").count()).toBe(0);

    await using full = await opened(homes[1] ?? "");
    const { page } = full;
    await rowOf(page, "Edit").click();
    await detailsOf(page).locator(".content .added").first().waitFor();
    expect(await detailsOf(page).locator(".content .removed").allInnerTexts()).toEqual(["- return sum * 0.9;\n"]);
    await rowOf(page, "Turn 2").click();
    await expect.poll(async () => (await partOf(page, "Prompt").innerText()).trim()).toBe(PROMPTS[1]);
    expect(await detailsOf(page).getByText("gen_ai.input.messages").isVisible()).toBe(false);
  } finally {
    for (const transcript of transcripts) renameSync(`${transcript}.gone`, transcript);
  }
});

test("with display.content off nothing of it is shown, and no note", async () => {
  configure(homes[0] ?? "", { display: { content: "off" } });
  await using look = await opened(homes[0] ?? "");
  const { page } = look;
  await page.locator(".findings li").first().waitFor();
  await rowOf(page, "Edit").click();
  await detailsOf(page).getByText("As it is sent").waitFor();
  expect(await page.locator(".about, .content, .files").count()).toBe(0);
  expect(await page.getByText("are not shown").count()).toBe(0);
  for (const secret of ["voucher", "cart.ts", "npm test"]) {
    expect(await page.locator("main").innerText()).not.toContain(secret);
  }
});
