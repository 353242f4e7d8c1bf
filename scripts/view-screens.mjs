// node scripts/view-screens.mjs <folder> [name…]: screenshots of every view of `openhook-otel view` and of an exported file,
// light and dark, from a phone to a very wide screen and at 200 % zoom. For manual review; tests check the page itself.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { collect, collectLong, drain, runProgram } from "../test/view/collected.mjs";
import { collectTwoWeeks, startSessions } from "../test/view/two-weeks.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const dist = process.env.OPENHOOK_DIST ?? join(ROOT, "dist");
const [folder = "view-screens", ...only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const LOOKS = [
  { look: "390", colorScheme: "light", ...phone },
  { look: "390-dark", colorScheme: "dark", ...phone },
  { look: "768", colorScheme: "light", viewport: { width: 768, height: 1024 } },
  { look: "1440", colorScheme: "light", viewport: { width: 1440, height: 900 } },
  { look: "1440-dark", colorScheme: "dark", viewport: { width: 1440, height: 900 } },
  { look: "2560", colorScheme: "light", viewport: { width: 2560, height: 1300 } },
  // A browser window of 1280 x 800 at 200 %
  { look: "200-percent", colorScheme: "dark", viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
];

/** A session with subagents, of the recordings. */
const NESTED = "a79b3a9f";
const FAILED = "64edee75";

const homes = { weeks: makeHome(), recorded: makeHome(), empty: makeHome() };
const servers = [];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  collectTwoWeeks(homes.weeks, dist);
  collect(homes.recorded, dist);
  const long = collectLong(homes.recorded, dist, { spans: 10_000 });
  drain(homes.recorded, dist);
  const exported = join(homes.recorded, "session.html");
  runProgram(homes.recorded, dist, ["export", NESTED, "--output", exported]);
  const [weeks, recorded, empty] = await Promise.all(Object.values(homes).map(view));
  for (const { look, ...options } of LOOKS) {
    startSessions(homes.weeks, dist);
    const context = await browser.newContext({ deviceScaleFactor: 1, ...options });
    const page = await context.newPage();
    page.on("console", (message) => console.error(look, message.type(), message.text()));
    page.on("pageerror", (error) => console.error(look, error));
    const shoot = async (name, go, { fullPage = false } = {}) => {
      if (only.length > 0 && !only.includes(name)) return;
      await go();
      await page.waitForTimeout(500);
      await page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage });
      const wide = await page.evaluate("document.documentElement.scrollWidth");
      if (wide > options.viewport.width) console.error(`${name}-${look}: ${wide} px wide`);
    };
    const at = (address, hash, selector) => async () => {
      await page.goto(`${address}#/${hash}`);
      await page.waitForSelector(selector);
    };
    const whole = { fullPage: true };
    const enter = async (link) => {
      await page.goto(link);
      return page.url().split("#")[0];
    };

    const machine = await enter(weeks);
    await shoot("home", at(machine, "home", ".running .busy"), whole);
    await shoot("sessions", at(machine, "sessions", ".sessions"));
    await shoot("filtered", at(machine, "sessions?errors=1&agent=claude-code", ".sessions"));
    await shoot("none", at(machine, "sessions?text=nowhere-at-all", ".placeholder"));
    await shoot("changes", at(machine, "changes", ".changes"), whole);
    await shoot(
      "change-open",
      async () => {
        await at(machine, "changes?by=commit", ".changes")();
        await page.locator(".changes button[aria-expanded]").first().click();
      },
      whole,
    );
    await shoot("usage", at(machine, "usage", ".chart canvas"), whole);
    await shoot("usage-agent", at(machine, "usage?by=repository&range=7&unit=hour", ".chart canvas"), whole);
    await shoot("tools", at(machine, "tools", ".figures"), whole);
    await shoot("running", async () => {
      await at(machine, "home", ".running .busy a")();
      await page.locator(".running .busy a").click();
      await page.waitForSelector(".findings li, .unknowns, .stack");
    });

    const few = await enter(recorded);
    const session = (name) => async () => {
      await at(few, `sessions?text=${name}`, ".sessions a")();
      await page.waitForFunction(`document.querySelectorAll(".sessions tbody tr").length === 1`);
      await page.locator(".sessions a").click();
      await page.waitForSelector(".findings li");
    };
    await shoot("session", session(NESTED));
    await shoot("failed", session(FAILED));
    await shoot("details", async () => {
      await session(NESTED)();
      await page.locator(".row.model_call").nth(1).click();
      await page.waitForSelector(".details header");
    });
    const press = async (...keys) => {
      await page.locator("#waterfall").focus();
      for (const key of keys) await page.keyboard.press(key);
    };
    await shoot("long", at(few, `session?source=claude-code&id=${long}`, ".findings li"));
    await shoot("long-zoomed", async () => {
      await at(few, `session?source=claude-code&id=${long}`, ".findings li")();
      await press("n", "n", "n", "z", "-", "-", "-", "-");
    });
    await shoot("long-details", async () => {
      await at(few, `session?source=claude-code&id=${long}`, ".findings li")();
      await press("n", "Enter");
      await page.waitForSelector(".details header");
    });
    await shoot("long-search", async () => {
      await at(few, "sessions", ".sessions")();
      await at(few, `session?source=claude-code&id=${long}`, ".findings li")();
      await page.getByLabel("Search spans").fill("tracker failed");
      await page.getByLabel("Search spans").press("Enter");
    });
    await shoot("gone", at(few, "session?source=unknown&id=none", ".placeholder.error"));

    const nothing = await enter(empty);
    await shoot("nothing", at(nothing, "home", ".placeholder"));
    await shoot("exported", async () => {
      await page.goto(pathToFileURL(exported).href);
      await page.waitForSelector(".findings li");
    });
    await context.close();
  }
} finally {
  await browser.close();
  for (const server of servers) server.kill("SIGINT");
  for (const home of Object.values(homes)) rmSync(home, { recursive: true, force: true });
}

function makeHome() {
  return mkdtempSync(join(tmpdir(), "view-screens-"));
}

/** Starts `openhook-otel view`. @returns the address that it prints */
function view(home) {
  const program = join(dist, "openhook-otel.cjs");
  const env = { PATH: process.env.PATH, HOME: home, TZ: "Europe/Berlin" };
  const server = spawn(process.execPath, [program, "view", "--print-url"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  servers.push(server);
  return new Promise((done, failed) => {
    server.stdout.once("data", (data) => done(String(data).trim()));
    server.once("exit", (code) => failed(new Error(`view exited with ${code}`)));
  });
}
