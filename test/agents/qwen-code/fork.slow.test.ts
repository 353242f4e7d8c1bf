// Slow: only `npm run test:all` runs it. Forks with marked copies, read in any order; qwen-code/transcript.test.ts has the ids
// of copies.
//
// A fork whose copied lines are marked: what it copied counts once, also if the original was deleted or is found later.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { importInto } from "../../import/run.ts";
import { storedTotals } from "../../import/totals.ts";
import { CASES, Replay } from "../../support/replay.ts";

const SOURCE = "qwen-code";
const FORK = "f0866a44-d69b-4798-943d-af4d6e4e9e55";
const CHATS = join("projects", "-home-dev-acme-shop", "chats");
const recorded = join(CASES, SOURCE, "basic", "transcripts", ".qwen", CHATS);
const [name = ""] = readdirSync(recorded);
const ORIGINAL = name.replace(".jsonl", "");

type Line = Readonly<Record<string, unknown>>;
const original = readFileSync(join(recorded, name), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Line);
const copies = original.map((line, at) => ({
  ...line,
  uuid: `copy-${at}`,
  sessionId: FORK,
  forkedFrom: { sessionId: ORIGINAL, messageUuid: line["uuid"] },
}));
const response = original.find(({ subtype, systemPayload }) =>
  subtype === "ui_telemetry" ? JSON.stringify(systemPayload).includes("qwen-code.api_response") : false,
);
/** The fork's own turn, an hour later. */
const own = [
  { ...original.find(({ type }) => type === "user"), uuid: "own-prompt" },
  JSON.parse(
    JSON.stringify({ ...response, uuid: "own-answer" }).replace(
      /"response_id":"[^"]+"/,
      `"response_id":"${"5".repeat(20)}"`,
    ),
  ) as Line,
].map((line) => ({ ...line, sessionId: FORK, timestamp: "2026-11-25T09:00:00.000Z" }));

let at: Replay;
beforeEach(() => {
  at = new Replay(SOURCE, "basic", { withTranscripts: false });
});
afterEach(() => at.remove());

const pathOf = (session: string): string => join(at.home, ".qwen", CHATS, `${session}.jsonl`);
function write(session: string, lines: readonly Line[]): void {
  mkdirSync(dirname(pathOf(session)), { recursive: true });
  writeFileSync(pathOf(session), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}
const imported = async (): Promise<void> => {
  expect(await importInto(at, SOURCE)).toMatchObject({ problems: [] });
};
async function reported(session: string): Promise<void> {
  for (const event of ["SessionStart", "SessionEnd"]) {
    const stdin = { hook_event_name: event, session_id: session, transcript_path: pathOf(session), cwd: at.home };
    const time = "2026-11-25T09:00:01.000Z";
    at.put({ received_at: time, event, stdin: { ...stdin, timestamp: time, source: "resume", reason: "other" } });
  }
  await at.drain({ endIdle: true });
}
const figures = () => {
  const { turns, calls, input, output, tools } = storedTotals(at.places.storePath);
  return { turns, calls, input, output, tools };
};

/** 3 recorded calls with 30,300 input and 102 output tokens, and one that repeats the first. */
const usage = (JSON.parse(JSON.stringify(response)) as { systemPayload: { uiEvent: Record<string, number> } })
  .systemPayload.uiEvent;
const ALL = {
  turns: 2,
  calls: 4,
  input: 30_300 + (usage["input_token_count"] ?? 0),
  output: 102 + (usage["output_token_count"] ?? 0),
  tools: 2,
};

test.each([
  ["imported", imported],
  ["reported by hooks", () => reported(FORK)],
] as const)("the original was deleted, the fork is %s", async (_, read) => {
  write(FORK, [...copies, ...own]);
  await read();
  expect(figures()).toEqual(ALL);
  await imported();
  expect(figures()).toEqual(ALL);
});

test.each([
  ["imported", imported, imported],
  ["reported by hooks", () => reported(FORK), () => reported(ORIGINAL)],
  ["imported, the original reported by hooks", imported, () => reported(ORIGINAL)],
  ["reported by hooks, the original imported", () => reported(FORK), imported],
] as const)("the fork first, then its original: %s", async (_, readFork, readOriginal) => {
  write(FORK, [...copies, ...own]);
  await readFork();
  write(ORIGINAL, original);
  await readOriginal();
  expect(figures()).toEqual(ALL);
  await imported();
  expect(figures()).toEqual(ALL);
});

test.each([
  ["imported", imported, imported],
  ["reported by hooks", () => reported(ORIGINAL), () => reported(FORK)],
] as const)("the original first, then deleted, then its fork: %s", async (_, readOriginal, readFork) => {
  write(ORIGINAL, original);
  await readOriginal();
  rmSync(pathOf(ORIGINAL));
  write(FORK, [...copies, ...own]);
  await readFork();
  expect(figures()).toEqual(ALL);
});

test("the fork and its original, imported together, count each call once", async () => {
  write(FORK, [...copies, ...own]);
  write(ORIGINAL, original);
  await imported();
  expect(figures()).toEqual(ALL);
});
