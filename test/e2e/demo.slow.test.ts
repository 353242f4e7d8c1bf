// Slow: only `npm run test:all` runs it. The demo, also run by `npm run demo`.
//
// `openhook-otel demo` as a new user runs it.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { demo } from "#commands/demo.ts";
import { placesOf } from "#config/places.ts";
import { check } from "#setup/demo/arrived.ts";
import { startReceiver } from "../receiver/receiver.ts";
import { contextAt } from "../support/context.ts";
import { ensureBuilt, Machine, PROGRAM, ROOT } from "../support/program.ts";

/** Usually 1 s. */
const MUCH_TOO_LONG_MS = 30_000;
const RECORDINGS = readdirSync(join(ROOT, "demo", "recordings"));

let machine: Machine;
/** The demo's folder for temporary files, so that leftovers can be seen. */
let temporary: string;
beforeAll(ensureBuilt);
beforeEach(() => {
  machine = new Machine();
  temporary = mkdtempSync(join(tmpdir(), "openhook-e2e-tmp-"));
});
afterEach(async () => {
  await machine.remove();
  rmSync(temporary, { recursive: true, force: true, maxRetries: 10 });
});

const run = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
  machine.run(["demo", ...args], { env: { TMPDIR: temporary, COLUMNS: "120", ...env } });

test("compares every recording as received, exact to the token, in ten lines, and leaves no files", async () => {
  const { code, stdout, stderr, tookMs } = await run([], { FORCE_COLOR: "1", TERM: "xterm-256color" });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(tookMs).toBeLessThan(MUCH_TOO_LONG_MS);
  expect(stdout).not.toContain("\u001b");
  for (const line of stdout.split("\n")) expect([...line].length, line).toBeLessThanOrEqual(120);
  // Without a terminal nothing waits for a reader
  expect(stdout.trimEnd().split("\n")).toHaveLength(10);

  const totals = RECORDINGS.flatMap((name) => {
    const text = readFileSync(join(ROOT, "demo", "recordings", name, "expected.json"), "utf8");
    const { sessions }: { sessions: { totals: Record<string, number> }[] } = JSON.parse(text);
    return sessions.map((session) => session.totals);
  });
  for (const kind of ["input", "output", "cache_read", "cache_write"]) {
    const sum = totals.reduce((n, total) => n + (total[kind] ?? 0), 0).toLocaleString("en-US");
    expect(stdout).toMatch(new RegExp(`^${kind} +${sum} +${sum} +${sum} +${sum} +exact$`, "m"));
  }
  expect(stdout).toMatch(/\d+ metric streams, each with the value that the store has: exact/);
  expect(stdout).not.toContain("differs");
  expect(readdirSync(machine.home)).toEqual([]);
  expect(readdirSync(temporary)).toEqual([]);
});

test("works if the home is not a directory, and ignores variables of OpenTelemetry and ours", async () => {
  const home = join(temporary, "home");
  writeFileSync(home, "");
  const { code, stderr } = await run([], {
    HOME: home,
    XDG_STATE_HOME: home,
    OPENHOOK_OTEL_DISABLED: "true",
    OPENHOOK_OTEL_HOME: home,
    OTEL_SDK_DISABLED: "true",
    OTEL_TRACES_EXPORTER: "none",
    OTEL_SERVICE_NAME: "somebody-else",
    CURSOR_VERSION: "3.1.0",
    CLAUDE_PROJECT_DIR: "/home/dev/elsewhere",
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(readFileSync(home, "utf8")).toBe("");
});

describe("with the user's endpoint", () => {
  test("the same is sent there, marked as a demo; a second run adds to the first", async () => {
    const receiver = await startReceiver();
    try {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_HEADERS: "x-team=shop" };
      const first = await run([], env);
      expect(first).toMatchObject({ code: 0, stderr: "" });
      const count = receiver.spans.length;
      expect(first.stdout).toContain(`${receiver.url} accepted the same ${count} spans`);
      expect(first.stdout).toContain(`ms each; ${count} spans and `);
      expect(new Set(receiver.spans.map((span) => span.resource["deployment.environment.name"]))).toEqual(
        new Set(["openhook-demo"]),
      );
      expect(receiver.requests.every((request) => request.headers["x-team"] === "shop")).toBe(true);
      // Recent enough for backends that refuse old data, and complete
      const nowMs = Date.now();
      for (const span of receiver.spans) {
        expect(Number(span.startNs / 1_000_000n)).toBeGreaterThan(nowMs - 3_600_000);
        expect(Number(span.endNs / 1_000_000n)).toBeLessThan(nowMs);
      }
      await run([], env);
      expect(receiver.spans).toHaveLength(count * 2);
      expect(new Set(receiver.spans.map((span) => span.spanId)).size).toBe(count * 2);
    } finally {
      await receiver.close();
    }
  });

  test("an endpoint that refuses is reported with its message, and the exit code is 1", async () => {
    const receiver = await startReceiver({ behaviour: () => ({ status: 401, body: "who are you?" }) });
    try {
      const { code, stdout } = await run([], { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
      expect(code).toBe(1);
      expect(stdout).toContain(`${receiver.url} accepted only`);
      expect(stdout).toContain("who are you?");
      expect(stdout).toMatch(/^input .*exact$/m);
    } finally {
      await receiver.close();
    }
  });
});

test("--keep keeps the store for the user's commands, and reports a number that differs", async () => {
  const { code, stdout } = await run(["--keep"]);
  expect(code).toBe(0);
  const kept = /^Kept: OPENHOOK_OTEL_HOME=(.+)$/m.exec(stdout)?.[1] ?? "";
  const listed = await machine.ok(["sessions", "--json"], { env: { OPENHOOK_OTEL_HOME: kept } });
  const sessions: { session_id: string }[] = JSON.parse(listed);
  expect(sessions.length).toBeGreaterThanOrEqual(RECORDINGS.length);

  const totals = { input: 1, output: 2, cache_read: 3, cache_write: 4 };
  const nothing = { spans: [], points: [] };
  const terminal = { columns: 120, colour: false };
  const checked = check([{ sessionId: "s", totals }], join(kept, "store.db"), nothing, terminal);
  expect(checked.exact).toBe(false);
  expect(checked.lines.join("\n")).toMatch(/^input +1 .*0 \(-1\) +0 \(-1\) +differs$/m);
  expect(checked.lines.join("\n")).toMatch(/metric streams with another value than the store has: /);
});

test("closing the reader of its output leaves no files", async () => {
  const command = `'${process.execPath}' '${PROGRAM}' demo | head -n 5`;
  const { code, stdout, stderr } = await machine.shell(command, { env: { TMPDIR: temporary } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.trimEnd().split("\n")).toHaveLength(5);
  expect(readdirSync(temporary)).toEqual([]);
});

describe("reports in one line what is missing", () => {
  const options = { keep: false, open: true, interruption: () => new AbortController().signal };
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "openhook-e2e-package-"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));

  test("the recordings", async () => {
    const { context } = contextAt(placesOf({ env: {}, home: root, platform: "linux" }));
    await expect(demo({ ...options, packageRoot: root }, context)).rejects.toMatchObject({
      code: "E_DEMO",
      exitCode: 1,
      message: expect.stringMatching(/^cannot read the recordings in .*recordings: .*ENOENT.*; install/),
    });
  });

  test("the build", async () => {
    cpSync(join(ROOT, "demo"), join(root, "demo"), { recursive: true });
    const { context } = contextAt(placesOf({ env: {}, home: root, platform: "linux" }));
    await expect(demo({ ...options, packageRoot: root }, context)).rejects.toThrow(
      /hook\.sh is missing: run "npm ci && npm run build"/,
    );
  });

  test("a folder for temporary files", async () => {
    const { code, stdout, stderr } = await run([], { TMPDIR: join(temporary, "nowhere") });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^openhook-otel: cannot make a folder in .*nowhere.*; set TMPDIR/);
  });
});
