import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { adapter } from "#agents/kiro/adapter.ts";
import { runHook } from "#collect/intake/hook.ts";
import { parseInboxFile } from "#collect/intake/inbox-file.ts";

const ACME = "C:\\work\\acme";
let stateDir = "";
let ppid = 400;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "openhook-session-start-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(stateDir, { recursive: true, force: true });
});

/** Runs the hook in a shell that ends with it, as on Windows, and returns the id of the event's session. */
async function sessionOf(payload: object, { cwd = ACME, platform = "win32" as NodeJS.Platform } = {}) {
  const inboxDir = join(stateDir, "inbox");
  ppid += 4;
  await runHook(
    ["--source", "kiro", "--drain", "no", "--event", "agent"],
    {
      env: {},
      variables: [],
      stdin: Readable.from([JSON.stringify(payload)]),
      cwd,
      pid: 7,
      ppid,
      platform,
      write() {},
    },
    { stateDir, inboxDir, nodePath: process.execPath, programPath: "/nowhere" },
  );
  const [name = ""] = readdirSync(inboxDir);
  const file = parseInboxFile(readFileSync(join(inboxDir, name)), Date.now());
  rmSync(join(inboxDir, name));
  return file.ok ? adapter.toEvents(JSON.parse(file.payload.toString()), file.facts)[0]?.session_id : undefined;
}

const later = (ms: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
const event = (hook_event_name: string) => ({ hook_event_name, cwd: ACME });

test("without session ids, all hooks since a session's start in a folder are one session", async () => {
  const first = await sessionOf(event("agentSpawn"));
  expect(first).toBeDefined();
  for (const name of ["userPromptSubmit", "preToolUse", "postToolUse", "stop"]) {
    later(1_000);
    expect(await sessionOf(event(name)), name).toBe(first);
  }
  const elsewhere = "C:\\work\\acme 2";
  expect(await sessionOf({ ...event("stop"), cwd: elsewhere }, { cwd: elsewhere })).not.toBe(first);
  const second = await sessionOf(event("agentSpawn"));
  expect(second).not.toBe(first);
  // The same start, reported by the user's and the project's settings
  expect(await sessionOf(event("agentSpawn"))).toBe(second);
  expect(await sessionOf(event("stop"))).toBe(second);
});

test("if no start was seen, the session begins with the first hook", async () => {
  const first = await sessionOf(event("userPromptSubmit"));
  expect(await sessionOf(event("stop"))).toBe(first);
});

test("folders with similar names are different sessions", async () => {
  const [one, two] = ["C:\\work\\a-b", "C:\\work\\a b"];
  const ids = [];
  for (const cwd of [one, two]) ids.push(await sessionOf({ ...event("agentSpawn"), cwd }, { cwd }));
  expect(new Set(ids).size).toBe(2);
});

test("starts are forgotten after a month, and nothing is kept for payloads with a session id or on other systems", async () => {
  const starts = () => readdirSync(stateDir).filter((name) => name === "session-starts");
  await sessionOf({ ...event("stop"), session_id: "sess_1" });
  await sessionOf(event("stop"), { platform: "linux" });
  expect(starts()).toEqual([]);
  await sessionOf(event("agentSpawn"));
  const folder = join(stateDir, "session-starts");
  const [old = ""] = readdirSync(folder);
  utimesSync(join(folder, old), new Date(0), new Date(0));
  await sessionOf({ ...event("stop"), cwd: "D:\\other" }, { cwd: "D:\\other" });
  expect(readdirSync(folder)).toEqual(["kiro-D-other"]);
});
