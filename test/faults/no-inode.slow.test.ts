// Slow: only `npm run test:all` runs it. A disk without inodes, with the built program; store/spare-files.test.ts has the
// files.
//
// No file can be created any more, because the events of hooks have used up the disk's inodes: drains empty the inbox all the same,
// and what a hook could not write is counted.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { placesOf } from "#config/places.ts";
import { openDatabase } from "#store/database.ts";
import { lostEvents } from "#store/self.ts";
import { ensureBuilt, PROGRAM, ROOT } from "../support/program.ts";
import { type SmallDisk, smallDisk } from "./disk.ts";

const INODES = 50;
const made = smallDisk(64 * 1024 * 1024, INODES);
if (typeof made === "string") console.warn(`SKIPPED, a disk without inodes: ${made}`);
else made.remove();

let disk: SmallDisk;
let home: string;
beforeAll(ensureBuilt);
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-inodes-"));
  const mounted = typeof made === "string" ? made : smallDisk(64 * 1024 * 1024, INODES);
  if (typeof mounted !== "string") disk = mounted;
});
afterEach(() => {
  if (typeof made !== "string") disk.remove();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

const placesHere = () =>
  placesOf({ env: { OPENHOOK_OTEL_HOME: join(disk.dir, "state") }, home, platform: process.platform });
const envHere = () => ({
  PATH: process.env["PATH"] ?? "",
  HOME: home,
  OPENHOOK_OTEL_HOME: placesHere().stateDir,
  OPENHOOK_OTEL_DRAIN: "off",
});
const program = (...args: readonly string[]) =>
  spawnSync(process.execPath, [PROGRAM, ...args], { env: envHere(), cwd: "/", encoding: "utf8", timeout: 60_000 });

const SHELL_HOOK = ["/bin/sh", join(ROOT, "dist", "hook.sh")] as const;
const NODE_HOOK = [process.execPath, join(ROOT, "dist", "hook.cjs")] as const;
let calls = 0;
function hook([interpreter, path]: readonly [string, string], payload?: string): void {
  calls++;
  const { status, stdout, stderr } = spawnSync(interpreter, [path, "claude-code", "PostToolUse"], {
    input: payload ?? JSON.stringify({ session_id: "s", hook_event_name: "PostToolUse", tool_use_id: `t${calls}` }),
    env: envHere(),
    encoding: "utf8",
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" });
}
const isFull = (): boolean => statfsSync(disk.dir).ffree === 0;
const fill = (): void => {
  for (let n = 0; n < INODES && !isFull(); n++) hook(SHELL_HOOK);
  expect(isFull()).toBe(true);
  for (const one of [SHELL_HOOK, NODE_HOOK]) for (let n = 0; n < 3; n++) hook(one);
};
/** Stored events and counted losses. */
function accounted(): number {
  const db = openDatabase(placesHere().storePath);
  try {
    const { n } = db.prepare("SELECT count(*) AS n FROM events").get() ?? {};
    return Number(n) + lostEvents(db).total;
  } finally {
    db.close();
  }
}
const lostInStatus = (): number => JSON.parse(program("status", "--json").stdout).inbox.lost;

test.skipIf(typeof made === "string")(
  "the first drain, and later ones, empty the inbox; every event is stored or counted as lost",
  () => {
    calls = 0;
    expect(program("enable", "claude-code", "-y").status).toBe(0);
    for (let round = 0; round < 2; round++) {
      fill();
      const before = lostInStatus();
      expect(before).toBe(6 * (round + 1));
      expect(program("drain")).toMatchObject({ status: 0, stderr: "" });
      expect(readdirSync(placesHere().inboxDir)).toEqual([]);
      expect(readdirSync(placesHere().claimedDir)).toEqual([]);
      expect(lostInStatus()).toBe(before);
      expect(accounted()).toBe(calls);
    }
  },
);

test.skipIf(typeof made === "string")("a payload that no agent recognises is quarantined without its reason", () => {
  calls = 0;
  program("drain");
  hook(SHELL_HOOK, '{"what":"nobody knows this"}');
  fill();
  expect(program("drain")).toMatchObject({ status: 0, stderr: "" });
  expect(readdirSync(placesHere().inboxDir)).toEqual([]);
  expect(readdirSync(placesHere().quarantineDir)).toEqual([expect.stringMatching(/\.evt$/)]);
  expect(accounted()).toBe(calls - 1);
});

test.skipIf(typeof made === "string")(
  "three drains without work keep what the next one needs, although other programs take freed inodes",
  () => {
    calls = 0;
    program("drain");
    mkdirSync(join(disk.dir, "foreign"));
    const others = 'n=0; while : >"$1/$n"; do n=$((n+1)); done';
    for (let n = 0; n < 4; n++) {
      spawnSync("sh", ["-c", others, "sh", join(disk.dir, "foreign")]);
      expect(isFull()).toBe(true);
      expect(program("drain")).toMatchObject({ status: 0, stderr: "" });
    }
  },
);

test.skipIf(typeof made === "string")("a program that takes every freed inode stops no drain", async () => {
  calls = 0;
  program("enable", "claude-code", "-y");
  const taken = join(disk.dir, "taken");
  mkdirSync(taken);
  fill();
  const greedy = `for (let n = 0; ; ) try { require("fs").closeSync(require("fs").openSync(process.argv[1] + "/" + n, "wx")); n++ } catch {}`;
  const other = spawn(process.execPath, ["-e", greedy, taken], { stdio: "ignore" });
  try {
    expect(program("drain")).toMatchObject({ status: 0, stderr: "" });
  } finally {
    other.kill("SIGKILL");
    await once(other, "exit");
  }
  expect(readdirSync(placesHere().inboxDir)).toEqual([]);
  rmSync(taken, { recursive: true });
  expect(accounted()).toBe(calls);
});
