import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import * as semconv from "#core/telemetry/semconv.ts";
import { type DocumentedCall, linesOf } from "../../support/documented.ts";
import { DocumentedRun } from "../../support/documented-run.ts";
import { countersAndRows, spansIn, summaryOf } from "../../support/summary.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const CLI_SESSION = "c186a259-e55f-4572-abc7-bd3697cf0001";
const LATER_MS = Date.parse("2026-09-14T12:00:00Z");

let run: DocumentedRun;
beforeEach(() => {
  run = new DocumentedRun();
});
afterEach(() => run.remove());

const hookAll = async (name: string, flags: readonly string[] = []): Promise<void> => {
  for (const call of linesOf<DocumentedCall>(join(HERE, name, "calls.jsonl"))) await run.hook(call, flags);
};
const sessionFile = (change: (text: string) => string = (text) => text, kiroHome = join(run.home, ".kiro")): void => {
  const folder = join(kiroHome, "sessions", "cli");
  mkdirSync(folder, { recursive: true });
  const text = readFileSync(join(HERE, "basic", "session.json"), "utf8");
  writeFileSync(join(folder, `${CLI_SESSION}.json`), change(text));
};
const statuses = (sessionId: string) =>
  summaryOf(run.places.storePath, sessionId)
    ?.tools.map(({ name, status }) => `${name} ${status}`)
    .sort();

test("a CLI session has two calls, one prompt and unknown tokens", async () => {
  sessionFile();
  await hookAll("basic");
  const report = await run.drain(LATER_MS);
  expect(report).toMatchObject({ files: 7, quarantined: 0 });
  expect(summaryOf(run.places.storePath, CLI_SESSION)).toMatchObject({ prompts: 1, modelCalls: [], unsettled: 0 });
  expect(statuses(CLI_SESSION)).toEqual(["execute_bash success", "fs_read success"]);
  // Such a session has no end event: it times out after its last stop
  expect(summaryOf(run.places.storePath, CLI_SESSION)?.segments).toEqual([
    { reason: "completed", native: "ended_by_user", ended: true },
  ]);
  expect(countersAndRows(run.places.storePath).counters).toMatchObject({
    input: 0,
    output: 0,
    calls: 0,
    tools: { success: 2 },
  });
  expect(spansIn(run.places.storePath)).not.toContain(semconv.OPENHOOK_MODEL_CALLS);
});

test("counts real token numbers once, however often the file is read", async () => {
  await hookAll("basic");
  sessionFile((text) =>
    text
      .replace('"input_token_count": 0', '"input_token_count": 900')
      .replace('"output_token_count": 0', '"output_token_count": 40'),
  );
  await run.drain(Date.parse("2026-09-14T09:00:10Z"));
  await run.drain(LATER_MS);
  const { counters, rows } = countersAndRows(run.places.storePath);
  expect(counters).toMatchObject({ input: 900, output: 40 });
  expect(counters).toEqual(rows);
});

test("finds token counts below KIRO_HOME", async () => {
  const moved = join(run.home, "work");
  for (const call of linesOf<DocumentedCall>(join(HERE, "basic", "calls.jsonl"))) {
    await run.hook({ ...call, env: { ...call.env, KIRO_HOME: moved } });
  }
  sessionFile(
    (text) =>
      text
        .replace('"input_token_count": 0', '"input_token_count": 900')
        .replace('"output_token_count": 0', '"output_token_count": 40'),
    moved,
  );
  await run.drain(LATER_MS);
  expect(countersAndRows(run.places.storePath).counters).toMatchObject({ input: 900, output: 40 });
});

test("declined and open calls are unfinished, failures are errors", async () => {
  await hookAll("failure");
  await run.drain(LATER_MS);
  expect(statuses(CLI_SESSION)).toEqual([
    "@git/status unfinished",
    "execute_bash error",
    "execute_bash error",
    "execute_bash unfinished",
  ]);
});

test("IDE 0.x: reads the payload from a variable while stdin stays open", async () => {
  const begin = Date.now();
  await hookAll("ide-0x", ["-e"]);
  expect(Date.now() - begin).toBeLessThan(5_000);
  expect(await run.drain(LATER_MS)).toMatchObject({ files: 5, quarantined: 0 });
  expect(countersAndRows(run.places.storePath).counters.tools).toEqual({ success: 1, unfinished: 1 });
});

test("an IDE that reports a start before every prompt has one session", async () => {
  const base = { session_id: "sess_5e748cf0-2069-4448-b1f7-35a1e42a0002", cwd: "/home/dev/acme-shop" };
  for (const minute of [0, 5, 10]) {
    const at = (second: number) => new Date(Date.UTC(2026, 8, 14, 9, minute, second)).toISOString();
    const hook = (received_at: string, stdin: object) =>
      run.hook({ received_at, argv: ["--source", "kiro"], stdin: { ...base, ...stdin } });
    await hook(at(0), { hook_event_name: "SessionStart" });
    await hook(at(1), { hook_event_name: "UserPromptSubmit", prompt: "" });
    await hook(at(20), { hook_event_name: "Stop" });
  }
  await run.drain(LATER_MS);
  expect(summaryOf(run.places.storePath, base.session_id)).toMatchObject({ prompts: 3, segments: [{ ended: true }] });
});
