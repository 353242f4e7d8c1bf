// node scripts/readme-pictures.mjs: makes the pictures in docs/images, from made-up sessions of two weeks.
// Needs Chromium ($CHROMIUM or /usr/bin/chromium) and `script` of util-linux, which gives a program a terminal.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { collectTwoWeeks, startSessions } from "../test/view/two-weeks.mjs";
import { smallPng } from "./small-png.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const PROGRAM = join(ROOT, "dist", "openhook-otel.cjs");
const IMAGES = join(ROOT, "docs", "images");
const COLUMNS = 104;
const WINDOW = { viewport: { width: 1280, height: 760 }, colorScheme: "light" };
const TALL = { ...WINDOW, viewport: { width: 1280, height: 1000 } };
const PHONE = { viewport: { width: 390, height: 760 }, colorScheme: "dark" };

const home = mkdtempSync(join(tmpdir(), "dev-"));
const env = { PATH: process.env.PATH, HOME: home, TERM: "xterm-256color", COLUMNS: String(COLUMNS) };
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  await picturesOfTwoWeeks();
} finally {
  await browser.close();
  rmSync(home, { recursive: true, force: true });
}

// --- internal ---

/** The session of the two weeks that has most turns and has ended. */
function sessionIn(machine) {
  const { stdout } = spawnSync(process.execPath, [PROGRAM, "sessions", "--json", "--limit", "100"], {
    env: machine,
    encoding: "utf8",
  });
  const ended = JSON.parse(stdout).filter(({ open }) => !open);
  return ended.reduce((a, b) => (b.turns > a.turns ? b : a)).session_id;
}

async function pictureOfCommand(kept, name, args) {
  const command = `stty cols ${COLUMNS}; ${process.execPath} ${PROGRAM} ${args}`;
  const { stdout } = spawnSync("script", ["-qec", command, "/dev/null"], { env: kept, encoding: "utf8" });
  const page = await browser.newPage({ viewport: { width: 1000, height: 400 }, deviceScaleFactor: 1.5 });
  await page.setContent(`<body style="margin:0;background:#fff"><pre style="display:inline-block;margin:0;padding:20px 24px;
    font:14px/1.45 'DejaVu Sans Mono',monospace;color:#1f2328;background:#fff">${html(stdout.replaceAll("\r", ""))}</pre></body>`);
  await write(name, await page.locator("pre").screenshot());
  await page.close();
}

/** A machine with two weeks of made-up sessions, of which two are open. */
async function picturesOfTwoWeeks() {
  const own = join(home, "work");
  mkdirSync(own);
  collectTwoWeeks(own, join(ROOT, "dist"));
  startSessions(own, join(ROOT, "dist"));
  const machine = { ...env, HOME: own };
  const session = sessionIn(machine);
  await pictureOfCommand(machine, "explain.png", `explain ${session.slice(0, 8)}`);
  await pictureOfCommand(machine, "outcomes.png", "outcomes");
  await inBoth("view-home", WINDOW, (name, look) => pictureOf(machine, name, twoWeeks(), ".running li + li a", look));
  const address = `#/session?source=claude-code&id=${session}`;
  await inBoth("view-session", TALL, (name, look) =>
    pictureOf(machine, name, address, ".findings li", look, (page) => page.locator(".row.turn .twist").first().click()),
  );
  await inBoth("view-changes", WINDOW, (name, look) => pictureOf(machine, name, "#/changes", ".changes", look));
  await pictureOf(machine, "view-phone.png", "#/home?range=7", ".running li + li a", PHONE);
}

/** README shows the dark picture to readers with a dark colour scheme. */
async function inBoth(name, look, take) {
  await take(`${name}.png`, look);
  await take(`${name}-dark.png`, { ...look, colorScheme: "dark" });
}

/** The start page with the days of the made-up sessions. */
function twoWeeks() {
  const dayOf = (ms) => new Date(ms - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
  return `#/home?range=between&from=${dayOf(Date.now() - 13 * 86_400_000)}&to=${dayOf(Date.now())}`;
}

/** @param selector what is there when the view is complete */
async function pictureOf(kept, name, hash, selector, look = WINDOW, before = async () => {}) {
  const server = spawn(process.execPath, [PROGRAM, "view", "--print-url"], {
    env: kept,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const address = await new Promise((done) => server.stdout.once("data", (data) => done(String(data).trim())));
  try {
    const page = await browser.newPage(look);
    await page.goto(address);
    await page.goto(`${page.url().split("#")[0]}${hash}`);
    await page.waitForSelector(selector);
    await before(page);
    await page.waitForTimeout(500);
    await write(name, await page.screenshot());
    await page.close();
  } finally {
    server.kill("SIGINT");
  }
}

async function write(name, png) {
  const page = await browser.newPage();
  writeFileSync(join(IMAGES, name), await smallPng(png, page));
  await page.close();
}

/** Text with SGR sequences as HTML. */
function html(text) {
  const COLOURS = { 31: "#cf222e", 32: "#1a7f37", 33: "#9a6700", 34: "#0969da", 35: "#8250df", 36: "#1b7c83" };
  let style = "";
  return text
    .split(new RegExp(`${String.fromCharCode(27)}\\[([\\d;]*)m`))
    .map((part, i) => {
      if (i % 2 === 1) {
        for (const code of part.split(";").map(Number)) {
          if (code === 0 || Number.isNaN(code)) style = "";
          else if (code === 1) style += "font-weight:bold;";
          else if (code === 2) style += "color:#656d76;";
          else if (COLOURS[code] !== undefined) style += `color:${COLOURS[code]};`;
          else if (code === 22 || code === 39) style = "";
        }
        return "";
      }
      const escaped = part.replace(/[&<>]/g, (character) => `&#${character.codePointAt(0)};`);
      return style === "" ? escaped : `<span style="${style}">${escaped}</span>`;
    })
    .join("");
}
