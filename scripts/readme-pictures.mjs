// node scripts/readme-pictures.mjs: makes docs/images/view-home.png, view-session.png and explain.png, from the demo's
// recordings and made-up sessions.
// Needs Chromium ($CHROMIUM or /usr/bin/chromium) and `script` of util-linux, which gives a program a terminal.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { collectLong, drain } from "../test/view/collected.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const PROGRAM = join(ROOT, "dist", "openhook-otel.cjs");
const IMAGES = join(ROOT, "docs", "images");
const COLUMNS = 104;

const home = mkdtempSync(join(tmpdir(), "readme-pictures-"));
const env = { PATH: process.env.PATH, HOME: home, TERM: "xterm-256color", COLUMNS: String(COLUMNS) };
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const { stdout } = spawnSync(process.execPath, [PROGRAM, "demo", "--keep"], { env, encoding: "utf8" });
  const state = /OPENHOOK_OTEL_HOME=(\S+)/.exec(stdout)?.[1];
  if (state === undefined) throw new Error(`the demo printed no OPENHOOK_OTEL_HOME:\n${stdout}`);
  const kept = { ...env, OPENHOOK_OTEL_HOME: state };
  try {
    await pictureOfExplain(kept);
    await pictureOfPage(kept);
    await pictureOfHome();
  } finally {
    rmSync(dirname(state), { recursive: true, force: true });
  }
} finally {
  await browser.close();
  rmSync(home, { recursive: true, force: true });
}

// --- internal ---

/** The demo's session with a subagent. */
function sessionIn(kept) {
  const sessions = JSON.parse(
    spawnSync(process.execPath, [PROGRAM, "sessions", "--json"], { env: kept, encoding: "utf8" }).stdout,
  );
  return sessions.find(({ subagents }) => subagents > 0).session_id;
}

async function pictureOfExplain(kept) {
  const command = `stty cols ${COLUMNS}; ${process.execPath} ${PROGRAM} explain ${sessionIn(kept).slice(0, 8)}`;
  const { stdout } = spawnSync("script", ["-qec", command, "/dev/null"], { env: kept, encoding: "utf8" });
  const page = await browser.newPage({ viewport: { width: 1000, height: 400 }, deviceScaleFactor: 1.5 });
  await page.setContent(`<body style="margin:0;background:#fff"><pre style="display:inline-block;margin:0;padding:20px 24px;
    font:14px/1.45 'DejaVu Sans Mono',monospace;color:#1f2328;background:#fff">${html(stdout.replaceAll("\r", ""))}</pre></body>`);
  await page.locator("pre").screenshot({ path: join(IMAGES, "explain.png") });
  await page.close();
}

/** The home of a machine with two weeks of made-up sessions. */
async function pictureOfHome() {
  const own = join(home, "two-weeks");
  const now = Date.now();
  const repositories = ["acme-shop", "payments-api", "data-pipeline"];
  for (const [i, name] of repositories.entries()) {
    mkdirSync(join(own, name, ".git"), { recursive: true });
    writeFileSync(join(own, name, ".git", "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(
      join(own, name, ".git", "config"),
      `[remote "origin"]\n\turl = https://git.example/acme/${name}.git\n`,
    );
    for (let day = 0; day < 14; day++) {
      const seed = 1 + i * 14 + day;
      collectLong(own, join(ROOT, "dist"), {
        spans: 60 + ((seed * 97) % (200 + i * 130)),
        sessionId: `10000000-5eed-4000-8000-${String(seed).padStart(12, "0")}`,
        cwd: join(own, name),
        startMs: now - day * 86_400_000 - 1_800_000,
        stepMs: 100,
        seed,
      });
    }
  }
  drain(own, join(ROOT, "dist"));
  await pictureOf({ PATH: process.env.PATH, HOME: own }, "view-home.png", "#/home?range=7", ".top-list");
}

function pictureOfPage(kept) {
  return pictureOf(kept, "view-session.png", `#/session?source=claude-code&id=${sessionIn(kept)}`, ".findings li");
}

/** @param selector what is there when the view is complete */
async function pictureOf(kept, name, hash, selector) {
  const server = spawn(process.execPath, [PROGRAM, "view", "--print-url"], {
    env: kept,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const address = await new Promise((done) => server.stdout.once("data", (data) => done(String(data).trim())));
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 760 }, colorScheme: "light" });
    await page.goto(address);
    await page.goto(`${page.url().split("#")[0]}${hash}`);
    await page.waitForSelector(selector);
    await page.waitForTimeout(500);
    await page.screenshot({ path: join(IMAGES, name) });
    await page.close();
  } finally {
    server.kill("SIGINT");
  }
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
