// node scripts/dashboard-pictures.mjs: makes the pictures of the dashboards in docs/images, as dashboards/README.md shows them.
// Needs Chromium ($CHROMIUM or /usr/bin/chromium) and the programs of test/stack, which it builds if they are missing.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { smallPng } from "./small-png.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const WIDTH = 1280;
/** The upper part of a long dashboard. */
const MOST_HEIGHT = 1600;
const IMAGES = join(ROOT, "docs", "images");

const folder = mkdtempSync(join(tmpdir(), "dashboards-"));
const { status } = spawnSync(process.execPath, [join(ROOT, "scripts", "stack.mjs"), "pictures"], {
  env: { ...process.env, OPENHOOK_STACK_SCREENS: folder },
  stdio: "inherit",
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const pages = readdirSync(folder).filter((name) => name.endsWith("-light.html"));
  if (status !== 0 || pages.length === 0) throw new Error("there are no pages: see above");
  for (const name of pages) {
    const page = await browser.newPage({ viewport: { width: WIDTH, height: 800 } });
    await page.goto(pathToFileURL(join(folder, name)).href);
    const height = Math.min(MOST_HEIGHT, await page.evaluate("document.documentElement.scrollHeight"));
    const shot = await page.screenshot({ fullPage: true, clip: { x: 0, y: 0, width: WIDTH, height } });
    const png = await smallPng(shot, page);
    writeFileSync(join(IMAGES, `dashboard-${name.replace("-light.html", ".png")}`), png);
    await page.close();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
