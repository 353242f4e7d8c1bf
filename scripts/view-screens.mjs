// node scripts/view-screens.mjs <folder> [name…]: screenshots of every view of `openhook-otel view`, light and dark, wide and
// narrow, with recorded sessions and one of 10,000 spans. For manual review; tests check the page itself.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { collect, collectLong, drain } from "../test/view/collected.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const dist = process.env.OPENHOOK_DIST ?? join(ROOT, "dist");
const [folder = "view-screens", ...only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const LOOKS = [
  { look: "light", colorScheme: "light", viewport: { width: 1440, height: 900 } },
  { look: "dark", colorScheme: "dark", viewport: { width: 1440, height: 900 } },
  { look: "phone", colorScheme: "light", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  { look: "phone-dark", colorScheme: "dark", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
];

const recorded = mkdtempSync(join(tmpdir(), "view-screens-"));
const empty = mkdtempSync(join(tmpdir(), "view-screens-"));
const servers = [];
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  collect(recorded, dist);
  const long = collectLong(recorded, dist, { spans: 10_000 });
  drain(recorded, dist);
  const address = await view(recorded);
  const nothing = await view(empty);
  for (const { look, ...options } of LOOKS) {
    const context = await browser.newContext({ ...options, deviceScaleFactor: 1 });
    const page = await context.newPage();
    page.on("console", (message) => console.error(look, message.type(), message.text()));
    page.on("pageerror", (error) => console.error(look, error));
    await page.goto(address);
    const home = page.url();
    const shoot = async (name, go) => {
      if (only.length > 0 && !only.includes(name)) return;
      await go();
      await page.waitForTimeout(400);
      await page.screenshot({ path: join(folder, `view-${name}-${look}.png`) });
    };
    const at = (hash) => async () => {
      await page.goto(`${home}#/${hash}`);
      await page.waitForSelector("h1");
    };
    const session = (name) => async () => {
      await at("sessions")();
      await page.goto(`${home}#/sessions?text=${name}`);
      await page.waitForTimeout(500);
      await page.locator(".sessions a").first().click();
      await page.waitForSelector(".row");
    };
    await shoot("sessions", at("sessions"));
    await shoot("filtered", at("sessions?errors=1&agent=claude-code"));
    await shoot("none", at("sessions?text=nowhere-at-all"));
    await shoot("session", session("a79b3a9f"));
    await shoot("details", async () => {
      await session("a79b3a9f")();
      await page.locator(".row.model_call").nth(1).click();
      await page.waitForSelector(".attributes");
    });
    await shoot("long", at(`session?source=claude-code&id=${long}`));
    await shoot("long-zoomed", async () => {
      await page.waitForSelector(".row");
      await page.locator("#waterfall").focus();
      for (const key of ["n", "n", "n", "z", "-", "-", "-", "-"]) await page.keyboard.press(key);
    });
    await shoot("long-fit", async () => {
      await page.waitForSelector(".row");
      await page.locator("#waterfall").focus();
      for (const key of ["0", "Home", "PageDown", "PageDown", "n", "f"]) await page.keyboard.press(key);
      await page.waitForTimeout(200);
      await page.keyboard.press("f");
    });
    await shoot("long-details", async () => {
      await page.waitForSelector(".row");
      await page.keyboard.press("Enter");
      await page.waitForSelector(".attributes");
    });
    await shoot("long-search", async () => {
      await at("sessions")();
      await at(`session?source=claude-code&id=${long}`)();
      await page.waitForSelector(".row");
      await page.fill(".toolbar input[type=search]", "tracker");
    });
    await shoot("usage", at("usage"));
    await shoot("usage-agent", at("usage?by=agent&range=7&unit=hour"));
    await shoot("tools", at("tools"));
    await shoot("gone", async () => {
      await page.goto(`${home}#/session?source=unknown&id=none`);
      await page.waitForSelector(".placeholder.error");
    });
    await shoot("nothing", async () => {
      await page.goto(nothing);
      await page.waitForSelector(".placeholder");
    });
    await context.close();
  }
} finally {
  await browser.close();
  for (const server of servers) server.kill("SIGINT");
  for (const home of [recorded, empty]) rmSync(home, { recursive: true, force: true });
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
