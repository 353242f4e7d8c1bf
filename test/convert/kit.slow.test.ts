// Slow: only `npm run test:all` runs it. Every vector of the conformance kit; convert/*.test.ts and agents/openhook have the
// rules.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { allAgents } from "#agents/registry.ts";
import {
  commandImplementation,
  faultIn,
  type KitCase,
  kitLines,
  levelIn,
  ourImplementation,
  readKit,
  runKit,
} from "#check/conformance/kit.ts";
import { ROOT } from "../support/replay.ts";

const KIT = join(ROOT, "conformance");
const cases = await readKit(KIT);
const agents = await allAgents();

describe("this program", () => {
  test.each(["cwd", "context"] as const)("conforms at level 3, writing the text %s", async (text) => {
    const results = await runKit(cases, ourImplementation(agents, text, Date.now));
    expect(results.filter(({ fault }) => fault !== undefined)).toEqual([]);
    expect(levelIn(results)).toBe(3);
  });
});

test("the kit has every kind of case, and payloads of every recorded agent", async () => {
  const sources = new Set(cases.flatMap(({ source }) => source ?? []));
  const recorded = (await allAgents()).filter(({ capabilities: of }) => of.basis === "recorded" && of.versions);
  for (const { source } of recorded) expect(sources).toContain(source);
  for (const kind of ["convert", "validate", "session", "discover"]) {
    expect(cases.filter((one) => one.kind === kind).length).toBeGreaterThan(10);
  }
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
});

test("the payloads are those of the recordings", async () => {
  const { stderr } = await promisify(execFile)(process.execPath, ["scripts/conformance.mjs", "--check"], { cwd: ROOT });
  expect(stderr).toBe("");
});

test("the JSON Schemas agree with the vectors", () => {
  for (const text of ["cwd", "context"]) {
    const schema = z.fromJSONSchema(
      JSON.parse(readFileSync(join(ROOT, "schema", `openhook-${text}.schema.json`), "utf8")),
    );
    for (const { kind, name, stdin, expected } of cases) {
      if (kind !== "validate" || name.endsWith(":no JSON")) continue;
      const { texts } = expected as { texts: readonly string[] };
      expect(schema.safeParse(JSON.parse(stdin)).success, `${name} as ${text}`).toBe(texts.includes(text));
    }
  }
});

describe("a command", () => {
  const some = cases.filter(({ name }) => /envelopes\.jsonl:(?:cwd|no JSON|an empty id)$/.test(name));
  const run = (program: string, of: readonly KitCase[] = some) =>
    runKit(of, commandImplementation(`${process.execPath} -e '${program}'`, process.env, ROOT));

  test("gets the case on stdin and its kind in the environment", async () => {
    const program = `let t = ""; process.stdin.on("data", (d) => (t += d)).on("end", () => {
      const texts = t.includes("\\"cwd\\"") ? ["cwd"] : [];
      console.log(JSON.stringify(process.env.OPENHOOK_CASE === "validate" ? { texts } : {}));
    })`;
    expect((await run(program)).filter(({ fault }) => fault !== undefined)).toEqual([]);
  });

  test("fails with a reason if its answer is wrong, it exits with an error, or it prints something else", async () => {
    const faults = async (program: string) => (await run(program, some.slice(0, 1))).map(({ fault }) => fault);
    expect(await faults(`console.log("{}")`)).toEqual([expect.stringMatching(/^expected /)]);
    expect(await faults("process.exit(7)")).toEqual(["exit code 7"]);
    expect(await faults('console.error("starting\\nno such case"); process.exit(7)')).toEqual([
      "exit code 7: no such case",
    ]);
    expect(await faults(`console.log("hello")`)).toEqual(["stdout is not one JSON value per line"]);
    const results = await run("process.exit(7)");
    expect([...kitLines(results, { columns: 100, colour: false })].at(-1)).toBe("conformance level: 0 of 3");
    const valid = await runKit(some, ourImplementation(agents, "cwd", Date.now));
    expect([...kitLines(valid, { columns: 100, colour: false })].at(-1)).toBe(
      "conformance level: 1 of 3 (no case of level 2 was run)",
    );
  });
});

describe("envelopes", () => {
  const convert = (expected: unknown): KitCase => ({ kind: "convert", name: "x", level: 2, stdin: "", expected });
  const line = (change: object = {}) =>
    JSON.stringify({
      openhook: "0.1",
      id: "1",
      source: "acme",
      type: "tool.end",
      time: "2026-09-14T09:00:00Z",
      session_id: "s",
      data: { tool_name: "edit", status: "success" },
      ...change,
    });
  const fault = (expected: unknown, stdout: string) => faultIn(convert(expected), { stdout, code: 0 });

  test("may have more members than expected, and file.write in addition", () => {
    const expected = [{ type: "tool.end", data: { tool_name: "edit" } }];
    const write = line({ id: "2", type: "file.write", data: { path: "x" } });
    expect(fault(expected, line())).toBeUndefined();
    expect(fault(expected, `${line()}\n${write}\n`)).toBeUndefined();
  });

  test("must be valid, complete, and nothing more", () => {
    expect(fault([], line())).toBe("expected no envelope; got 1 envelopes");
    expect(fault([{ type: "tool.end" }], "")).toBe("expected tool.end; got 0 envelopes");
    expect(fault([{ type: "tool.end" }], line({ time: "now" }))).toMatch(/^time: /);
    expect(fault([{ type: "tool.end", data: { status: "error" } }], line())).toBe('data.status is not "error"');
    expect(fault([{ type: "tool.end", session_id: "t" }], line())).toBe('session_id is not "t"');
  });

  test("may leave out members of data, which the specification does not require", () => {
    const expected = [{ type: "tool.end", data: { tool_call_id: "t1", status: "success" } }];
    expect(fault(expected, line())).toBeUndefined();
    expect(fault(expected, line({ data: undefined }))).toBeUndefined();
  });
});
