// Slow: only `npm run test:all` runs it. Commits that are made of imported edits; drain.test.ts has those that hooks
// reported.
// Edits of imported sessions: commits that somebody made of them, and the lines of Agent Trace
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { exportTrace } from "#commands/export-trace.ts";
import { outcomes } from "#commands/outcomes.ts";
import { usage } from "#show/report/usage.ts";
import { storedCommits } from "#store/changes.ts";
import { counterValues } from "#store/counters.ts";
import { readStore } from "#store/read-only.ts";
import { importInto, unpackAll } from "../import/run.ts";
import { contextAt } from "../support/context.ts";
import { Replay } from "../support/replay.ts";
import { TraceRecord } from "../support/trace-record.ts";
import { Work } from "./work.ts";

let work = new Work();
let replay: Replay | undefined;
afterEach(() => {
  work.remove();
  work = new Work();
  replay?.remove();
});

const ID = "0b6f2a52-5d0c-4f5e-9a53-1f2b3c4d5e6f";
const NOW_MS = Math.floor(Date.now() / 1_000) * 1_000;
const MINUTE_MS = 60_000;

test("a commit that the user makes of imported edits is inferred; the session stays packed, and the sums are divided there", async () => {
  const shop = shopWith("one\ntwo\nthree\n");
  const made = session(shop);
  // In one quarter of an hour, before and after the commit
  made.edit(10, "tax.js", 2, ["TWO", "and a half"]);
  commit(shop, 8, "git commit -qam tax");
  made.edit(6, "vat.js", 1, ["ONE"]);
  await made.imported();
  await find(shop);
  const head = work.head(shop);
  const expected = {
    commits: [{ commit: head, certainty: "inferred", how: "edits" }],
    calls: [
      [head, 1],
      [null, 1],
    ],
  };
  expect(whatIsKnown()).toEqual({ ...expected, packed: 1, counted: [] });
  await find(shop);
  await importInto(at(), "claude-code");
  expect(whatIsKnown()).toEqual({ ...expected, packed: 1, counted: [] });
  // Another version reads it again, and finds no commit in it
  await importInto(at(), "claude-code", {}, "0.0.0-later");
  expect(whatIsKnown()).toEqual({ ...expected, packed: 1, counted: [] });
  await unpackAll(at(), "claude-code");
  await at().drain({ endIdle: true }, clock());
  expect(whatIsKnown()).toEqual({ ...expected, packed: 0, counted: [1] });
});

test("Agent Trace has the lines of an imported session's own commit, by its schema", async () => {
  const shop = shopWith("one\ntwo\nthree\n");
  const made = session(shop);
  made.edit(10, "tax.js", 2, ["TWO", "and a half"]);
  made.shell(9, "git commit -am tax", commit(shop, 9, "git commit -am tax"));
  await made.imported();
  const [record, another] = await traces(shop);
  expect(another).toBeUndefined();
  expect(record).toMatchObject({
    vcs: { revision: work.head(shop) },
    files: [
      { path: "tax.js", conversations: [{ contributor: { type: "ai" }, ranges: [{ start_line: 2, end_line: 3 }] }] },
    ],
  });
  await unpackAll(at(), "claude-code");
  await at().drain({ endIdle: true }, clock());
  expect(await traces(shop)).toEqual([record]);
});

test.each(["user", "project"])("with capture none of the %s, no name of a file is stored", async (by) => {
  const shop = shopWith("one\ntwo\n");
  if (by === "project") writeFileSync(join(shop, ".openhook-otel.json"), JSON.stringify({ capture: "none" }));
  const made = session(shop);
  made.edit(10, "tax.js", 2, ["TWO"]);
  await made.imported(by === "user");
  const { stateDir } = at().places;
  const store = ["store.db", "store.db-wal"].map((name) => readIfThere(join(stateDir, name))).join("");
  expect(store.includes(ID)).toBe(true);
  expect(store.includes("tax.js")).toBe(false);
});

// --- internal ---

const at = (): Replay => {
  if (replay === undefined) throw new Error("nothing was imported");
  return replay;
};
const clock = () => ({ now: () => NOW_MS, sleep: async () => {} });

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function shopWith(text: string): string {
  const shop = work.repository();
  for (const name of ["tax.js", "vat.js"]) writeFileSync(join(shop, name), text);
  commit(shop, 60, "git add -A && git commit -qm files");
  return shop;
}

function commit(shop: string, minutesAgo: number, command: string): string {
  const date = `@${(NOW_MS - minutesAgo * MINUTE_MS) / 1_000}`;
  return work.run(`export GIT_COMMITTER_DATE=${date} GIT_AUTHOR_DATE=${date}; ${command}`, shop).output;
}

/** A session of Claude Code with one turn. Each call really changes its file. */
function session(cwd: string) {
  const lines: object[] = [];
  const put = (minutesAgo: number, type: string, body: object): void => {
    const timestamp = new Date(NOW_MS - minutesAgo * MINUTE_MS + lines.length).toISOString();
    const uuid = `${ID.slice(0, -3)}${String(lines.length).padStart(3, "0")}`;
    lines.push({ uuid, timestamp, type, sessionId: ID, version: "2.1.332", cwd, promptId: "p1", ...body });
  };
  const call = (minutesAgo: number, name: string, input: object, result: object): void => {
    const id = `toolu_01A1b2C3d4E5f6G7h8J9${String(lines.length).padStart(3, "0")}`;
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = {
      id: `msg_01A1b2C3d4E5f6G7h8J9${lines.length}`,
      model: "claude-sonnet-4-5",
      stop_reason: "tool_use",
      usage,
    };
    put(minutesAgo, "assistant", {
      requestId: `req_${lines.length}`,
      message: { ...message, role: "assistant", content: [{ type: "tool_use", id, name, input }] },
    });
    const content = [{ type: "tool_result", tool_use_id: id, content: "stdout" in result ? result.stdout : "done" }];
    put(minutesAgo, "user", { message: { role: "user", content }, toolUseResult: result });
  };
  put(11, "user", { message: { role: "user", content: "change it" } });
  return {
    /** Replaces one line. */
    edit(minutesAgo: number, name: string, line: number, texts: readonly string[]): void {
      const filePath = join(cwd, name);
      const all = readFileSync(filePath, "utf8").split("\n");
      const [before] = all.splice(line - 1, 1, ...texts);
      writeFileSync(filePath, all.join("\n"));
      const hunk = { oldStart: line, oldLines: 1, newStart: line, newLines: texts.length };
      const structuredPatch = [{ ...hunk, lines: [`-${before}`, ...texts.map((text) => `+${text}`)] }];
      call(minutesAgo, "Edit", { file_path: filePath }, { filePath, structuredPatch });
    },
    shell: (minutesAgo: number, command: string, stdout: string) => call(minutesAgo, "Bash", { command }, { stdout }),
    async imported(isCaptureOff = false): Promise<void> {
      replay = new Replay("claude-code", "basic", { withTranscripts: false });
      const folder = join(replay.home, ".claude", "projects", "shop");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${ID}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      if (isCaptureOff) {
        mkdirSync(join(replay.places.configPath, ".."), { recursive: true });
        writeFileSync(replay.places.configPath, JSON.stringify({ capture: "none" }), { mode: 0o600 });
      }
      expect((await importInto(replay, "claude-code")).problems).toEqual([]);
    },
  };
}

function contextIn(cwd: string) {
  return contextAt(
    { ...at().places, home: work.home },
    { cwd, env: { PATH: process.env["PATH"] ?? "" }, now: () => NOW_MS },
  );
}

async function find(shop: string): Promise<void> {
  const { context } = contextIn(shop);
  expect(await outcomes({ all: false, quiet: false, json: false }, context)).toBe(0);
}

async function traces(shop: string) {
  const { context, out } = contextIn(shop);
  expect(await exportTrace(undefined, { force: false }, context)).toBe(0);
  return out()
    .trim()
    .split("\n")
    .map((text) => TraceRecord.strict().parse(JSON.parse(text)));
}

function whatIsKnown() {
  return readStore(at().places.storePath, (db) => ({
    commits: storedCommits(db).map(({ commit, certainty, how }) => ({ commit, certainty, how })),
    calls: usage(db, { agents: [] }, { by: ["commit"] }).map(({ key, calls }) => [key.commit, calls?.modelCalls]),
    packed: db.prepare("SELECT count(*) AS n FROM packed").get()?.["n"],
    counted: counterValues(db).flatMap(({ metric, value }) => (metric === "openhook.commit.count" ? [value] : [])),
  }));
}
