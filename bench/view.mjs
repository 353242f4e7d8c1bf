// npm run bench:view [spans]: how fast the page is with one long session in Chromium: time from the click to the painted
// waterfall, the longest main-thread task while scrolling, zooming, searching and moving by keyboard, and memory.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { collectLong, drain } from "../test/view/collected.mjs";
import { countOf } from "./lib/options.mjs";

const dist = join(resolve(dirname(fileURLToPath(import.meta.url)), ".."), "dist");
const spans = countOf("the number of spans", process.argv[2] ?? "10000");
const RUNS = 5;
/** A session of days; a longer one may take longer. */
const MAX_OPEN_MS = spans <= 10_000 ? 1000 : 2500;
const MAX_TASK_MS = 50;

/** Resolves when rows exist and the frame that shows them has been drawn. */
const PAINTED = `new Promise((done) => {
  const look = () => document.querySelector(".row .bar") === null ? requestAnimationFrame(look) : requestAnimationFrame(() => setTimeout(() => done(performance.now())));
  look();
})`;
const OPEN_BY_CLICK = `(async () => {
  const startMs = performance.now();
  document.querySelector(".sessions a").click();
  return Math.round((await ${PAINTED}) - startMs);
})()`;
const SINCE_NAVIGATION = `(async () => Math.round(await ${PAINTED}))()`;

const home = mkdtempSync(join(tmpdir(), "bench-view-"));
const load = loadavg()[0].toFixed(1);
const id = collectLong(home, dist, { spans });
drain(home, dist);
const server = spawn(process.execPath, [join(dist, "openhook-otel.cjs"), "view", "--print-url"], {
  env: { PATH: process.env.PATH, HOME: home },
  stdio: ["ignore", "pipe", "inherit"],
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const link = await new Promise((done) => server.stdout.once("data", (data) => done(String(data).trim())));
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(link);
  const base = page.url();

  const opens = [];
  const cold = [];
  for (let run = 0; run < RUNS; run++) {
    await page.goto(`${base}#/sessions`);
    await page.locator(".sessions a").waitFor();
    opens.push(await page.evaluate(OPEN_BY_CLICK));
    // A new page loads script, style and data again
    const other = await context.newPage();
    await other.goto(`${base}#/session?source=claude-code&id=${id}`, { waitUntil: "commit" });
    cold.push(await other.evaluate(SINCE_NAVIGATION));
    await other.close();
  }
  const counted = await page.locator(".counted").innerText();

  const tasks = {
    open: await longestTask(page, async () => {
      await page.goto(`${base}#/sessions`);
      await page.locator(".sessions a").click();
      await page.locator(".row").first().waitFor();
    }),
    expand: await longestTask(page, async () => {
      await page.locator(".findings li").first().waitFor();
      await page.getByRole("button", { name: "Expand all" }).click();
      await page.waitForTimeout(200);
    }),
    scroll: await longestTask(page, async () => {
      // Above the explanation the wheel scrolls the page
      await page.locator("#waterfall").scrollIntoViewIfNeeded();
      await page.locator(".rows").hover({ position: { x: 50, y: 50 } });
      for (let i = 0; i < 120; i++) await page.mouse.wheel(0, i % 40 === 39 ? -4000 : 700);
    }),
    jump: await longestTask(page, async () => {
      for (const at of [0.9, 0.1, 0.5, 0.99, 0]) {
        await page.evaluate(
          `document.querySelector("#waterfall").scrollTop = ${at} * document.querySelector("#waterfall").scrollHeight`,
        );
        await page.waitForTimeout(100);
      }
    }),
    zoom: await longestTask(page, async () => {
      const box = await page.locator(".head-row .c-bar").boundingBox();
      await page.mouse.move(box.x + box.width * 0.4, box.y + 150);
      await page.keyboard.down("Control");
      for (let i = 0; i < 80; i++) await page.mouse.wheel(0, i < 40 ? -100 : 100);
      await page.keyboard.up("Control");
    }),
    walk: await longestTask(page, async () => {
      await page.locator("#waterfall").focus();
      for (let i = 0; i < 60; i++) await page.keyboard.press(i % 3 === 0 ? "n" : "ArrowDown");
      await page.keyboard.press("End");
      await page.keyboard.press("Home");
    }),
    collapse: await longestTask(page, async () => {
      await page.getByRole("button", { name: "Turns only" }).click();
      await page.waitForTimeout(200);
      await page.getByRole("button", { name: "Expand all" }).click();
      await page.waitForTimeout(200);
    }),
    sort: await longestTask(page, async () => {
      await page.getByLabel("Order").selectOption("cost");
      await page.waitForTimeout(200);
      await page.getByLabel("Order").selectOption("time");
    }),
    search: await longestTask(page, async () => {
      await page.getByLabel("Search spans").pressSequentially("find_issue", { delay: 40 });
      await page.getByLabel("Search spans").fill("");
      await page.getByLabel("Errors only").check();
      await page.getByLabel("Errors only").uncheck();
    }),
  };
  const session = await context.newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const nodes = await page.evaluate("document.querySelectorAll('*').length");

  const report = [
    ["spans", counted],
    ["load before, cores", `${load}, ${availableParallelism()}`],
    // The server builds a session once, and then again only when it has changed
    ["click to painted, first time", `${opens[0]} ms (limit ${MAX_OPEN_MS})`],
    ["click to painted, again", `${list(opens.slice(1))} ms, median ${median(opens.slice(1))} (limit ${MAX_OPEN_MS})`],
    ["new page to painted", `${list(cold)} ms, median ${median(cold)} (limit ${MAX_OPEN_MS})`],
    ...Object.entries(tasks).map(([name, { ms, cpuMs }]) => [
      `longest task: ${name}`,
      `${ms.toFixed(1)} ms, at most ${cpuMs.toFixed(1)} ms CPU${name === "open" ? "" : ` (limit ${MAX_TASK_MS})`}`,
    ]),
    ["heap after all of it", `${(usedSize / 1e6).toFixed(1)} MB`],
    ["elements in the document", String(nodes)],
  ];
  for (const [name, value] of report) console.log(`${name.padEnd(32)} ${value}`);
} finally {
  await browser.close();
  server.kill("SIGINT");
  rmSync(home, { recursive: true, force: true });
}

/** The longest task of the page's main thread during `work`, according to Chromium's trace. */
async function longestTask(page, work) {
  await browser.startTracing(page, {
    categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"],
  });
  await work();
  await page.waitForTimeout(150);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const mains = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid}/${tid}`),
  );
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) => ph === "X" && /(^|::)RunTask$/.test(name) && mains.has(`${pid}/${tid}`),
  );
  if (tasks.length === 0) throw new Error("the trace contains no task");
  const most = (pick) => Math.max(...tasks.map((task) => pick(task) ?? 0)) / 1000;
  // CPU time too: on a busy machine most of a long task is waiting for a core
  return { ms: most(({ dur }) => dur), cpuMs: most(({ tdur }) => tdur) };
}

function median(all) {
  return [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)];
}

function list(all) {
  return all.join(", ");
}
