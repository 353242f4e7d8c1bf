import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import Libsql from "libsql";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { withDrainLock } from "#store/lock.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** A process that works under the lock: logs `in` and `out` for each pass; a pass lasts while `<stay>` exists. */
const WORKER = `
  import { appendFileSync, existsSync } from "node:fs";
  import { withDrainLock } from "./src/store/lock.ts";
  const [lock, log, stay, passMs] = process.argv.slice(2);
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  withDrainLock(lock, async () => {
    appendFileSync(log, "in " + process.pid + "\\n");
    await wait(Number(passMs));
    while (existsSync(stay)) await wait(10);
    appendFileSync(log, "out " + process.pid + "\\n");
  }).then((worked) => process.stdout.write(String(worked)));
`;

let bundles = "";
let dir = "";
let lock = "";
let log = "";
let stay = "";
let children: ChildProcess[] = [];

beforeAll(async () => {
  bundles = mkdtempSync(join(tmpdir(), "openhook-lock-worker-"));
  await build({
    stdin: { contents: WORKER, resolveDir: ROOT, loader: "js" },
    outfile: join(bundles, "worker.cjs"),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["libsql"],
  });
});
afterAll(() => rmSync(bundles, { recursive: true, force: true, maxRetries: 10 }));

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "openhook-lock-"));
  [lock, log, stay] = [join(dir, "state", "drain.lock"), join(dir, "log"), join(dir, "stay")];
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
});

interface Worker {
  readonly pid: number | undefined;
  readonly worked: Promise<string>;
  kill(): Promise<void>;
}

function start(passMs = 0): Worker {
  const args = [join(bundles, "worker.cjs"), lock, log, stay, String(passMs)];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, NODE_PATH: join(ROOT, "node_modules") },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  let output = "";
  child.stdout?.on("data", (data) => {
    output += data;
  });
  const gone = new Promise<void>((done) => child.once("close", () => done()));
  return {
    pid: child.pid,
    worked: gone.then(() => output),
    kill: async () => {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

const logged = (): string[] => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : []);

async function until(holds: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  while (!holds()) {
    if (Date.now() > deadlineMs) throw new Error(`waited without success; the log says ${logged()}`);
    await new Promise((done) => setTimeout(done, 10));
  }
}

describe("withDrainLock, between processes", () => {
  test("never two at the same time, and a pass follows every request", async () => {
    const workers = Array.from({ length: 6 }, () => start(40));
    const worked = await Promise.all(workers.map((w) => w.worked));
    expect(worked.filter((w) => w === "true").length).toBeGreaterThan(0);
    const lines = logged();
    expect(lines.length).toBeGreaterThan(0);
    for (let i = 0; i < lines.length; i += 2) {
      expect(lines[i]).toMatch(/^in /);
      expect(lines[i + 1]).toBe(lines[i]?.replace("in", "out"));
    }
    expect(existsSync(`${lock}.again`)).toBe(false);
  });

  test("returns immediately if another is running, and that one repeats its pass", async () => {
    writeFileSync(stay, "");
    const first = start();
    await until(() => logged().length === 1);
    const second = start();
    expect(await second.worked).toBe("false");
    expect(logged()).toEqual([`in ${first.pid}`]);
    rmSync(stay);
    expect(await first.worked).toBe("true");
    expect(logged()).toEqual([1, 2].flatMap(() => [`in ${first.pid}`, `out ${first.pid}`]));
  });

  test("two requests during a pass cause one more pass", async () => {
    writeFileSync(stay, "");
    const first = start();
    await until(() => logged().length === 1);
    for (const worker of [start(), start()]) expect(await worker.worked).toBe("false");
    rmSync(stay);
    await first.worked;
    expect(logged().filter((line) => line.startsWith("in")).length).toBe(2);
  });

  test("a killed holder releases the lock", async () => {
    writeFileSync(stay, "");
    const first = start();
    await until(() => logged().length === 1);
    await first.kill();
    rmSync(stay);
    const second = start();
    expect(await second.worked).toBe("true");
    expect(logged()).toEqual([`in ${first.pid}`, `in ${second.pid}`, `out ${second.pid}`]);
  });
});

describe("withDrainLock, in one process", () => {
  test("a second call during the first returns false; the first repeats its pass", async () => {
    const passes: string[] = [];
    const worked = await withDrainLock(lock, async () => {
      passes.push("first");
      if (passes.length === 1) {
        expect(await withDrainLock(lock, async () => void passes.push("second"))).toBe(false);
      }
    });
    expect(worked).toBe(true);
    expect(passes).toEqual(["first", "first"]);
  });

  test("work that fails releases the lock, and the next call works", async () => {
    const failing = withDrainLock(lock, () => Promise.reject(new Error("disk full")));
    await expect(failing).rejects.toThrow("disk full");
    let worked = 0;
    expect(await withDrainLock(lock, async () => void worked++)).toBe(true);
    expect(worked).toBe(1);
  });

  test("works while another process only looks at the lock, as each one does before it tries to get it", async () => {
    await withDrainLock(lock, async () => {});
    // What each process does for a moment before it has the lock
    const other = new Libsql(lock, {});
    other.exec("BEGIN; SELECT * FROM sqlite_master");
    let worked = 0;
    expect(await withDrainLock(lock, async () => void worked++)).toBe(true);
    expect(worked).toBe(1);
    other.close();
  });

  test("its files are accessible to the user only", async () => {
    await withDrainLock(lock, async () => {
      writeFileSync(log, "");
    });
    expect(statSync(lock).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(lock)).mode & 0o777).toBe(0o700);
  });
});
