// Agent Trace: files and lines of commits, by its schema; a range is given only if it is certain
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linesAfter } from "#changes/edited-lines.ts";
import { type ExportTraceOptions, exportTrace } from "#commands/export-trace.ts";
import { UserError } from "#kit/errors.ts";
import { contextAt } from "../support/context.ts";
import { TraceRecord } from "../support/trace-record.ts";
import { Work } from "./work.ts";

const work = new Work();
let shop = "";
afterAll(() => work.remove());

/** Changes a file as an agent's tool does, and reports which lines it wrote. */
function edit(
  session: string,
  path: string,
  [at, removed, text]: readonly [number, number, readonly string[]],
  isPlaceReported = true,
) {
  const file = join(shop, path);
  const lines = readFileSync(file, "utf8").split("\n");
  lines.splice(at - 1, removed, ...text);
  const tool_call_id = `edit-${path}-${Math.random()}`;
  // Edits in one millisecond have no order
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
  work.put(work.event(session, "tool.start", shop, { tool_name: "Edit", tool_call_id }));
  writeFileSync(file, lines.join("\n"));
  const where = isPlaceReported && text.length > 0 ? { start_line: at, end_line: at + text.length - 1 } : {};
  const counts = { lines_added: text.length, lines_removed: removed };
  work.put(
    work.event(session, "file.write", shop, { path: file, operation: "update", tool_call_id, ...where }, counts),
  );
  work.put(work.event(session, "tool.end", shop, { tool_name: "Edit", tool_call_id, status: "success" }));
}

async function exported(name?: string, options: Partial<ExportTraceOptions> = {}) {
  const { context, out } = contextAt(work.inbox.places, { cwd: shop, env: { PATH: process.env["PATH"] ?? "" } });
  expect(await exportTrace(name, { force: false, ...options }, context)).toBe(0);
  return out();
}
const records = async (name?: string) =>
  (await exported(name))
    .trim()
    .split("\n")
    .map((text) => TraceRecord.strict().parse(JSON.parse(text)));
const rangesOf = async (name: string) => {
  const [record] = await records(name);
  return Object.fromEntries(
    (record?.files ?? []).map(({ path, conversations }) => [
      path,
      conversations.map(({ contributor: by, ranges }) => [
        by?.type,
        ...ranges.map(({ start_line, end_line }) => `${start_line}-${end_line}`),
      ]),
    ]),
  );
};

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join("");

beforeAll(() => {
  shop = work.repository();
  for (const name of ["a.js", "b.js", "c.js"]) writeFileSync(join(shop, name), numbered(20));
  work.run("git add -A && GIT_COMMITTER_DATE=@1700000100 git commit -qm files", shop);
});

describe("exported commits", () => {
  test("ranges have the lines of one turn, as later edits moved them; none for unknown places, nor for files of others", async () => {
    work.put(work.event("one", "prompt.submit", shop, { prompt_length: 3 }), work.modelCall("one"));
    edit("one", "a.js", [10, 1, ["ten", "ten and a half"]]);
    edit("one", "a.js", [2, 0, ["new"]]);
    edit("one", "b.js", [5, 1, ["five"]], false);
    writeFileSync(join(shop, "c.js"), "by somebody else\n");
    const { output } = work.run("git commit -am edits", shop);
    finish("one", "git commit -am edits", output);
    await work.drain();
    expect(await rangesOf("HEAD")).toEqual({ "a.js": [["ai", "2-2", "11-12"]], "b.js": [["ai"]] });
    const [record] = await records();
    expect(record).toMatchObject({
      vcs: { type: "git", revision: work.head(shop) },
      metadata: { "openhook-otel": { certainty: "observed", sessions: [{ source: "acme", session_id: "one" }] } },
    });
    expect(await exported()).toBe(await exported(work.head(shop).slice(0, 8)));
  });

  test("no range if somebody else changed the file too, or could have between two turns", async () => {
    work.put(work.event("two", "prompt.submit", shop, { prompt_length: 3 }), work.modelCall("two"));
    edit("two", "a.js", [1, 1, ["one"]]);
    writeFileSync(join(shop, "a.js"), `${readFileSync(join(shop, "a.js"), "utf8")}by the user\n`);
    edit("two", "b.js", [1, 1, ["one"]]);
    finish("two", "git commit -am a a.js", work.run("git commit -m a a.js", shop).output);
    await work.drain();
    expect(await rangesOf("HEAD")).toEqual({ "a.js": [["ai"]] });

    work.put(work.event("two", "prompt.submit", shop, { prompt_length: 3 }), work.modelCall("two"));
    edit("two", "c.js", [1, 1, ["one"]]);
    work.put(work.event("two", "turn.end", shop));
    await work.drain();
    work.turn("two", shop, ["git commit -am c"]);
    await work.drain();
    expect(await rangesOf("HEAD")).toMatchObject({ "c.js": [["ai"]] });
  });

  test("an unknown name is refused, and an existing file is not overwritten", async () => {
    const failure = (name: string) => exported(name).catch((error: UserError) => `${error.exitCode} ${error.message}`);
    expect(await failure("deadbeef")).toMatch(/^1 no session on this machine is known to have worked on "deadbeef"/);
    expect(await failure("#99")).toMatch(/^1 no session is known to have worked on pull request #99/);
    const path = join(work.home, "trace.jsonl");
    expect(await exported(undefined, { output: path })).toMatch(/^Wrote .*trace.jsonl \(3 commits\)/);
    await expect(exported(undefined, { output: path })).rejects.toThrow(UserError);
    expect(readFileSync(path, "utf8")).toBe(await exported());
  });
});

/** The end of a turn: a call with a command that ran already. */
function finish(session: string, command: string, output: string): void {
  const tool_call_id = `commit-${Math.random()}`;
  work.put(work.event(session, "tool.start", shop, { tool_name: "Shell", tool_call_id }));
  const end = work.event(session, "tool.end", shop, { tool_name: "Shell", tool_call_id, status: "success" });
  work.put(end, { command, output, ...work.modelCall(session) });
  work.put(work.event(session, "turn.end", shop));
}

describe("lines after several edits", () => {
  const write = (startLine: number, added: number, removed: number) => ({
    path: "/a",
    startLine,
    endLine: startLine + added - 1,
    added,
    removed,
  });
  test.each([
    ["an insertion before moves them", [[write(5, 2, 1)], [write(1, 3, 0)]], [1, 2, 3, 8, 9]],
    ["what a later edit replaces is gone", [[write(5, 3, 0)], [write(6, 1, 2)]], [5, 6]],
    ["several places of one call", [[write(10, 1, 0)], [write(2, 2, 1), write(9, 1, 1)]], [2, 3, 9, 11]],
  ])("%s", (_, edits, lines) => {
    expect(linesAfter(edits.map((writes, endMs) => ({ endMs, writes })))).toEqual(lines);
  });
  test("an edit without a place makes them unknown", () => {
    expect(
      linesAfter([
        { endMs: 1, writes: [write(1, 1, 0)] },
        { endMs: 2, writes: [{ path: "/a" }] },
      ]),
    ).toBe(undefined);
    expect(linesAfter([{ endMs: 1, writes: [{ path: "/a", added: 0, removed: 2 }] }])).toBe(undefined);
  });
});
