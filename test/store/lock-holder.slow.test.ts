// Slow: only `npm run test:all` runs it. Who holds the drain's lock, and what it does.
// store/lock.test.ts has the lock itself.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { withDrainLock } from "#store/lock.ts";
import { holderAt, holderPathOf, holderText, lockHolderText, lockOf, runningHolder } from "#store/lock-holder.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** Reads a file for ever: without interruption, or by waiting. */
const WORKER = `
  import { withProgress } from "./src/store/lock-holder.ts";
  const [lock, stateDir, way, limit] = process.argv.slice(2);
  const limits = new Proxy({}, { get: (_, name) => (name === "query" || way !== "query" ? Number(limit) : 0) });
  withProgress(lock, stateDir, async (progress) => {
    progress.enter("/repo/.crush/crush.db#s1");
    progress.restart = [process.execPath, "-e", "require('fs').writeFileSync(process.argv[1], process.env.MARK)", stateDir + "/restarted"];
    const { query } = await progress.database("/repo/.crush/crush.db");
    if (way === "query") query();
    await new Promise((done) => setTimeout(done, 50));
    process.stdout.write("reading");
    while (way === "query");
    while (way === "busy");
    await new Promise((done) => setTimeout(done, 1e9));
  }, limits);
`;

let bundles = "";
let stateDir = "";
let children: ChildProcess[] = [];

beforeAll(async () => {
  bundles = mkdtempSync(join(tmpdir(), "openhook-holder-worker-"));
  await build({
    stdin: { contents: WORKER, resolveDir: ROOT, loader: "js" },
    outfile: join(bundles, "worker.cjs"),
    ...{ bundle: true, platform: "node", target: "node20", format: "cjs", external: ["libsql"] },
  });
});
afterAll(() => rmSync(bundles, { recursive: true, force: true, maxRetries: 10 }));
beforeEach(() => {
  stateDir = join(mkdtempSync(join(tmpdir(), "openhook-holder-")), "state");
  mkdirSync(stateDir, { mode: 0o700 });
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  rmSync(dirname(stateDir), { recursive: true, force: true, maxRetries: 10 });
});

async function reader(way: "busy" | "waiting" | "query", limit: number) {
  const args = [join(bundles, "worker.cjs"), lockOf(stateDir), stateDir, way, String(limit)];
  const child = spawn(process.execPath, args, { env: { ...process.env, MARK: "as before" } });
  children.push(child);
  await new Promise((done) => child.stdout.once("data", done));
  return child;
}

test("the holder of the lock says what it does, and nothing once it has ended", async () => {
  const lock = lockOf(stateDir);
  await withDrainLock(lock, async (_, progress) => {
    const leave = progress.enter("/home/dev/one.jsonl");
    progress.enter("/home/dev/two.jsonl");
    expect(lockHolderText(stateDir, Date.now())).toMatch(
      new RegExp(`^process ${process.pid}, for 0 s, reading /home/dev/one.jsonl and 1 more for 0 s$`),
    );
    leave();
    expect(holderAt(lock)?.files).toEqual(["/home/dev/two.jsonl"]);
    progress.note("send");
    expect(holderAt(lock)).toMatchObject({ step: "send", files: [], pid: process.pid });
  });
  expect(holderAt(lock)).toBeUndefined();
});

test("after a failure, too", async () => {
  await expect(withDrainLock(lockOf(stateDir), () => Promise.reject(new Error("disk full")))).rejects.toThrow(
    "disk full",
  );
  expect(holderAt(lockOf(stateDir))).toBeUndefined();
});

test("a process that is gone is not running, and the next holder learns what it did", async () => {
  const child = await reader("waiting", 100);
  expect(runningHolder(lockOf(stateDir))?.pid).toBe(child.pid);
  const ended = new Promise((done) => child.once("exit", done));
  child.kill("SIGKILL");
  await ended;
  expect(runningHolder(lockOf(stateDir))).toBeUndefined();
  const lefts: unknown[] = [];
  await withDrainLock(lockOf(stateDir), async (_, { left }) => void lefts.push(left));
  expect(lefts).toEqual([
    expect.objectContaining({ pid: child.pid, step: "read", files: ["/repo/.crush/crush.db#s1"] }),
  ]);
});

test.runIf(process.platform === "linux")("a stopped process is named, with what to do", async () => {
  const child = await reader("waiting", 100);
  child.kill("SIGSTOP");
  await vi.waitFor(() => expect(runningHolder(lockOf(stateDir))?.isStopped).toBe(true), PATIENCE_MS);
  expect(lockHolderText(stateDir, Date.now())).toContain(`kill -CONT ${child.pid}`);
});

test.each(["busy", "waiting"] as const)(
  "a step that takes too long ends the process, with a line in the log (%s)",
  async (way) => {
    const child = await reader(way, 1);
    const signal = await new Promise((done) => child.once("exit", (_, by) => done(by)));
    if (process.platform !== "win32") expect(signal).toBe("SIGKILL");
    expect(readFileSync(join(stateDir, "drain.log"), "utf8")).toMatch(
      /the step read of \/repo\/\.crush\/crush\.db#s1 took more than 1 s: this drain ended itself/,
    );
  },
);

test("a query that does not return ends the process, which leaves the database's name and starts the next drain", async () => {
  const child = await reader("query", 1);
  let said = "";
  child.stderr.on("data", (part) => {
    said += part;
  });
  await new Promise((done) => child.once("close", done));
  expect(said).toMatch(
    /^openhook-otel: a query of \/repo\/\.crush\/crush\.db took more than 1 s: this drain ended itself/,
  );
  expect(holderAt(lockOf(stateDir))).toMatchObject({ isHung: true, database: "/repo/.crush/crush.db" });
  // The descriptors that it shares are closed
  await vi.waitFor(() => expect(readFileSync(join(stateDir, "restarted"), "utf8")).toBe("as before"), PATIENCE_MS);
});

test("a silent holder is described as such, and a damaged file as nothing", () => {
  const holder = {
    pid: 1,
    host: "elsewhere x",
    start: "1",
    sinceMs: 0,
    step: "send",
    stepMs: 60_000,
    beatMs: 90_000,
  } as const;
  const text = holderText({ ...holder, files: [], isStopped: false }, 600_000);
  expect(text).toMatch(
    /^process 1 on elsewhere, for 10 min, sending for 9 min; it has shown no sign of life for 9 min/,
  );
  writeFileSync(holderPathOf(lockOf(stateDir)), "{");
  expect(runningHolder(lockOf(stateDir))).toBeUndefined();
  expect(existsSync(holderPathOf(lockOf(stateDir)))).toBe(true);
});
