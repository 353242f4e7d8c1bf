// Files with the processes above agents, as hooks leave them in the state directory.
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openDatabase } from "#store/database.ts";
import { launcherOf } from "#store/launches.ts";
import { ensureSession } from "#store/sessions.ts";
import { type RecordedCall, Replay } from "../support/replay.ts";

const HOST = "1.00000000-0000-4000-8000-000000000001";
const AT_MS = Date.now() - 5_000;

let at: Replay;
let folder: string;
beforeEach(() => {
  at = new Replay("claude-code", "basic", { withTranscripts: false });
  folder = join(at.places.stateDir, "processes");
  mkdirSync(folder, { recursive: true });
});
afterEach(() => at.remove());

function write(name: string, text: string, timeMs = AT_MS): void {
  writeFileSync(join(folder, name), text);
  utimesSync(join(folder, name), timeMs / 1_000, timeMs / 1_000);
}

const lineOf = (...processes: readonly string[]): string => `host=${HOST} up=100.00 ${processes.join(" ")}\n`;

/** The hook of a session's start, in a process. */
function start(sessionId: string, [pid = 0, begun = 0]: readonly number[], timeMs: number, cwd = at.home): void {
  const stdin = { session_id: sessionId, hook_event_name: "SessionStart", source: "startup", cwd };
  const call: RecordedCall = { received_at: "", event: "SessionStart", stdin };
  at.agentProcess = { pid, start: String(begun), host: HOST };
  at.put(call, timeMs);
}

function parentOf(sessionId: string): string | undefined {
  const db = openDatabase(at.places.storePath);
  try {
    return launcherOf(db, ensureSession(db, "claude-code", sessionId, AT_MS))?.session.sessionId;
  } finally {
    db.close();
  }
}

test("the file of a child and the hooks of both can come in any order, and twice", async () => {
  start("child", [30, 300], AT_MS);
  await at.drain();
  write("30.300.1", lineOf("30.300", "20.200"));
  await at.drain();
  expect(parentOf("child")).toBeUndefined();
  start("parent", [20, 200], AT_MS - 1_000);
  await at.drain();
  expect(parentOf("child")).toBe("parent");
  // A drain that was killed after its commit has not removed it
  write("30.300.1", lineOf("30.300", "20.200"));
  await Promise.allSettled([at.drain(), at.drain()]);
  expect(parentOf("child")).toBe("parent");
  expect(readdirSync(folder)).toEqual([]);
});

test("a file that a hook is writing stays; one that was never finished, or is another one, is removed after a minute", async () => {
  const now = Date.now();
  write("1.1.1", `host=${HOST} up=1.00 1.1 2`, now);
  write("2.2.1", `host=${HOST} up=1.00 1.1 2`, now - 120_000);
  write("3.3.1", "x".repeat(10_000), now - 120_000);
  await at.drain();
  expect(readdirSync(folder)).toEqual(["1.1.1"]);
});

test("a link is not followed", async () => {
  symlinkSync("/etc/passwd", join(folder, "4.4.1"));
  await at.drain();
  expect(readdirSync(folder)).toEqual(["4.4.1"]);
});

test("a session whose project keeps nothing still works in the process, so that another one is not taken for it", async () => {
  const secret = join(at.home, "secret");
  mkdirSync(secret);
  writeFileSync(join(secret, ".openhook-otel.json"), JSON.stringify({ disabled: true }));
  start("kept", [20, 200], AT_MS - 2_000);
  start("child", [30, 300], AT_MS);
  write("30.300.1", lineOf("30.300", "20.200"));
  await at.drain();
  expect(parentOf("child")).toBe("kept");
  start("secret", [20, 200], AT_MS - 1_000, secret);
  await at.drain();
  expect(parentOf("child")).toBeUndefined();
});
