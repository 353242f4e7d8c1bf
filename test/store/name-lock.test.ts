import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type NameLockOptions, tryNameLock } from "#store/name-lock.ts";
import { sleep, until } from "../support/program.ts";

const ROOT = resolve(fileURLToPath(import.meta.url), "..", "..", "..");

/** Takes the lock `times` times and logs each time; holds the last one while `<stay>` exists. */
const WORKER = `
  import { appendFileSync, existsSync } from "node:fs";
  import { tryNameLock } from "./src/store/name-lock.ts";
  const [path, log, stay, times] = process.argv.slice(2);
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  for (let n = 0; n < Number(times); ) {
    const release = tryNameLock(path, { onLost: (by) => { appendFileSync(log, "lost to " + by + "\\n"); process.exit(3); } });
    if (release === undefined) { await wait(1 + Math.random() * 4); continue; }
    n++;
    appendFileSync(log, "in " + process.pid + "\\n");
    await wait(2);
    while (n === Number(times) && existsSync(stay)) await wait(5);
    appendFileSync(log, "out " + process.pid + "\\n");
    release();
  }
`;

let bundles = "";
let dir = "";
let path = "";
let children: ChildProcess[] = [];
let releases: (() => void)[] = [];

beforeAll(async () => {
  bundles = mkdtempSync(join(tmpdir(), "openhook-name-lock-worker-"));
  await build({
    stdin: { contents: WORKER, resolveDir: ROOT, loader: "js" },
    outfile: join(bundles, "worker.mjs"),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
});
afterAll(() => rmSync(bundles, { recursive: true, force: true, maxRetries: 10 }));
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "openhook-name-lock-"));
  path = join(dir, "drain.lock.name");
});
afterEach(() => {
  for (const release of releases) release();
  releases = [];
  for (const child of children) child.kill("SIGKILL");
  children = [];
  rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
});

/** Takes the lock and releases it after the test at the latest: a timer that outlives its test would miss the folder. */
function take(more: Partial<NameLockOptions> = {}): (() => void) | undefined {
  const release = tryNameLock(path, { onLost, ...more });
  if (release === undefined) return undefined;
  let isReleased = false;
  const once = (): void => {
    if (!isReleased) release();
    isReleased = true;
  };
  releases.push(once);
  return once;
}

const log = (): string => join(dir, "log");
const stay = (): string => join(dir, "stay");
const logged = (): readonly string[] => (existsSync(log()) ? readFileSync(log(), "utf8").split("\n").slice(0, -1) : []);

function start(times: number): { readonly child: ChildProcess; readonly gone: Promise<number | null> } {
  const args = [join(bundles, "worker.mjs"), path, log(), stay(), String(times)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  children.push(child);
  return { child, gone: new Promise((done) => child.once("close", done)) };
}

const onLost: NameLockOptions["onLost"] = (holder) => {
  throw new Error(`lost to ${holder}`);
};
const ON_MEADOW = { host: "meadow", pid: 4711, start: "88" };

describe("between processes", () => {
  test("never two holders, and no files are left", async () => {
    const codes = await Promise.all([start(10), start(10), start(10), start(10)].map(({ gone }) => gone));
    expect(codes).toEqual([0, 0, 0, 0]);
    const lines = logged();
    expect(lines).toHaveLength(80);
    for (let i = 0; i < lines.length; i += 2) expect(lines[i + 1]).toBe(lines[i]?.replace("in", "out"));
    expect(readdirSync(dir)).toEqual(["log"]);
  });

  test("the lock of a killed holder is taken over immediately", async () => {
    writeFileSync(stay(), "");
    const first = start(1);
    await until("the first is in", () => logged().length === 1);
    expect(take()).toBeUndefined();
    first.child.kill("SIGKILL");
    await first.gone;
    const release = take();
    expect(release).toBeDefined();
    release?.();
    expect(existsSync(path)).toBe(false);
  });

  test("a suspended holder on this machine keeps the lock, however long", async () => {
    writeFileSync(stay(), "");
    const first = start(1);
    await until("the first is in", () => logged().length === 1);
    first.child.kill("SIGSTOP");
    await sleep(50);
    expect(take({ staleAfterMs: 1 })).toBeUndefined();
    first.child.kill("SIGCONT");
    rmSync(stay());
    expect(await first.gone).toBe(0);
    expect(logged()).toHaveLength(2);
  });
});

describe("between machines", () => {
  test("while the holder renews it, it is not taken over", async () => {
    const release = take({ self: ON_MEADOW, renewEveryMs: 20 });
    for (const _ of [1, 2, 3, 4]) {
      await sleep(100);
      expect(take({ staleAfterMs: 300 })).toBeUndefined();
    }
    release?.();
    expect(existsSync(path)).toBe(false);
  });

  test("a lock that is not renewed is taken over, and the old holder is notified", async () => {
    let lostTo = "";
    const old = take({ self: ON_MEADOW, renewEveryMs: 400, onLost: (holder) => (lostTo = holder) });
    await sleep(150);
    const release = take({ staleAfterMs: 100 });
    expect(release).toBeDefined();
    await until("the old holder notices", () => lostTo !== "");
    expect(lostTo).toMatch(new RegExp(`^process ${process.pid} on `));
    // It must not release a lock that is no longer its own
    old?.();
    expect(existsSync(path)).toBe(true);
    release?.();
    expect(existsSync(path)).toBe(false);
  });

  test("a process of another boot with the same pid is another process", () => {
    take({ self: { host: "orchard boot-1", pid: process.pid, start: "1" } });
    expect(
      take({ self: { host: "orchard boot-1", pid: process.pid, start: "2" }, staleAfterMs: 60_000 }),
    ).toBeDefined();
  });

  test("a process killed while taking over does not block the lock permanently", async () => {
    take({ self: ON_MEADOW, renewEveryMs: 60_000 });
    const { mkdirSync } = await import("node:fs");
    mkdirSync(`${path}.takeover`);
    await sleep(60);
    expect(take({ staleAfterMs: 20 })).toBeUndefined();
    expect(take({ staleAfterMs: 20 })).toBeDefined();
  });

  test("it is accessible to the user only", () => {
    const release = take();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    release?.();
  });
});
