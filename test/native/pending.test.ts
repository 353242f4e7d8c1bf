import {
  appendFileSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { type BodyFacts, bodyFileName } from "#collect/native/body-file.ts";
import { type NativeBody, pendingNative, unreadableNative } from "#collect/native/pending.ts";
import { exportedDir, exportedFile, forwardDir, nativeDir, unreadableDir } from "#collect/native/receiver-file.ts";

/** The pass of a step that fails, counted over all steps. */
let failAt: { n: number; when: "before" | "after" } | undefined;
let passed: string[] = [];
vi.mock("#kit/fault-points.ts", () => ({
  step: (name: string, work: () => unknown) => {
    passed.push(name);
    const isHere = failAt?.n === passed.length;
    if (isHere && failAt?.when === "before") throw new Error("killed");
    const result = work();
    if (isHere) throw new Error("killed");
    return result;
  },
}));

let stateDir: string;
let out: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "pending-"));
  mkdirSync(exportedDir(stateDir), { recursive: true });
  out = exportedFile(stateDir, "gemini-cli");
  [failAt, passed] = [undefined, []];
});

/** One drain: the texts of all bodies in order, each done. */
async function drained(work?: (body: NativeBody) => Promise<void>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const body of pendingNative(stateDir)) {
    texts.push(body.bytes.toString());
    await (work ?? ((one: NativeBody) => one.done()))(body);
  }
  return texts;
}

const put = (text: string, facts: Partial<BodyFacts> = {}, ms = Date.now()): string => {
  const whole = { source: "goose", signal: "traces", encoding: "json", isGzip: false, ...facts } as const;
  const name = bodyFileName(whole, ms);
  writeFileSync(join(nativeDir(stateDir), name), text);
  return name;
};

describe("received bodies", () => {
  test("come in the order of their times, with what their names say, and are gone when done", async () => {
    put("c", { signal: "logs", encoding: "proto", isGzip: true }, 3_000);
    put("a", {}, 1_000);
    put("b", { source: "claude-code", signal: "metrics" }, 2_000);
    writeFileSync(join(nativeDir(stateDir), ".tmp-0123456789abcdef"), "unfinished");
    writeFileSync(join(nativeDir(stateDir), "receiver.json"), "{}");
    const seen: unknown[] = [];
    await drained(async ({ source, signal, encoding, isGzip, bytes, done }) => {
      seen.push([source, signal, encoding, isGzip, bytes.toString()]);
      await done();
    });
    expect(seen).toEqual([
      ["goose", "traces", "json", false, "a"],
      ["claude-code", "metrics", "json", false, "b"],
      ["goose", "logs", "proto", true, "c"],
    ]);
    expect(readdirSync(nativeDir(stateDir)).sort()).toEqual([".tmp-0123456789abcdef", "files", "receiver.json"]);
  });

  test("what is not done comes again", async () => {
    put("a");
    expect(await drained(async () => {})).toEqual(["a"]);
    expect(await drained()).toEqual(["a"]);
    expect(await drained()).toEqual([]);
  });

  test("of an agent with native.forward they are queued, byte for byte under the same name", async () => {
    const [mine, other] = [put("mine"), put("other", { source: "claude-code" })];
    for await (const body of pendingNative(stateDir, (source) => source === "goose")) await body.done();
    expect(readdirSync(forwardDir(stateDir))).toEqual([mine]);
    expect(readFileSync(join(forwardDir(stateDir), mine), "utf8")).toBe("mine");
    expect(existsSync(join(nativeDir(stateDir), other))).toBe(false);
  });

  test("unreadable ones are set aside with the reason; the newest twenty are kept, all are counted", async () => {
    const all = Array.from({ length: 25 }, (_, i) => put(`${i}`, {}, 1_000 + i));
    await drained(({ reject }) => reject("no OTLP at byte 0"));
    expect(unreadableNative(stateDir)).toEqual({ total: 25, kept: 20 });
    expect(readFileSync(join(unreadableDir(stateDir), `${all[24]}.reason`), "utf8")).toBe("no OTLP at byte 0\n");
    expect(existsSync(join(unreadableDir(stateDir), `${all[0]}.reason`))).toBe(false);
    expect(await drained()).toEqual([]);
  });

  test("nothing is there: nothing comes, and nothing is created", async () => {
    stateDir = mkdtempSync(join(tmpdir(), "pending-"));
    expect(await drained()).toEqual([]);
    expect(unreadableNative(stateDir)).toEqual({ total: 0, kept: 0 });
    expect(readdirSync(stateDir)).toEqual([]);
  });
});

const record = fc.record({ name: fc.string(), list: fc.array(fc.integer(), { maxLength: 3 }), inner: fc.object() });
const aged = (): void => utimesSync(out, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000));

describe("what agents append to files", () => {
  test("every record comes once, whole, however the writes are cut and whenever a drain runs", async () => {
    const written = fc.array(fc.tuple(record, fc.boolean(), fc.array(fc.nat(200), { maxLength: 3 }), fc.boolean()));
    await fc.assert(
      fc.asyncProperty(written, async (records) => {
        rmSync(out, { force: true });
        rmSync(`${out}.read`, { force: true });
        const seen: string[] = [];
        for (const [value, isIndented, cuts, isAged] of records) {
          const text = `${JSON.stringify(value, null, isIndented ? 2 : 0)}\n`;
          let from = 0;
          for (const cut of [...cuts.sort((a, b) => a - b), text.length]) {
            appendFileSync(out, text.slice(from, Math.max(from, cut)));
            from = Math.max(from, Math.min(cut, text.length));
            if (isAged) aged();
            seen.push(...(await drained()));
          }
        }
        const all = records.map(([value, isIndented]) => `${JSON.stringify(value, null, isIndented ? 2 : 0)}\n`);
        expect(seen.join("")).toBe(all.join(""));
        for (const part of seen) expect(part).toMatch(/^\{[\s\S]*\}\n$/);
      }),
      { numRuns: 30 },
    );
  });

  test("the agent's file says which agent and format it is", async () => {
    appendFileSync(out, "{}\n");
    for await (const { source, signal, encoding, isGzip } of pendingNative(stateDir))
      expect({ source, signal, encoding, isGzip }).toEqual({
        source: "gemini-cli",
        signal: "file",
        encoding: "file",
        isGzip: false,
      });
  });

  test("a quiet file is emptied under the agent that holds it open, and what that appends comes", async () => {
    const fd = openSync(out, "a");
    appendFileSync(fd, '{"n":1}\n');
    expect(await drained()).toEqual(['{"n":1}\n']);
    expect(statSync(out).size, "just written").toBe(8);
    aged();
    expect(await drained()).toEqual([]);
    expect(statSync(out).size).toBe(0);
    appendFileSync(fd, '{"n":22}\n{"n":3');
    expect(await drained()).toEqual(['{"n":22}\n']);
    aged();
    expect(await drained(), "half a record").toEqual([]);
    expect(statSync(out).size, "is not emptied").toBe(15);
    appendFileSync(fd, "}\n");
    expect(await drained()).toEqual(['{"n":3}\n']);
  });

  test("an agent that does not append leaves a hole, which is skipped", async () => {
    const fd = openSync(out, "w");
    writeFileSync(fd, '{"n":1}\n');
    await drained();
    aged();
    await drained();
    writeFileSync(fd, '{"n":2}\n');
    expect(statSync(out).size).toBe(16);
    expect(await drained()).toEqual(['{"n":2}\n']);
  });

  test("another file in its place, and one that was truncated, are read from their beginning", async () => {
    appendFileSync(out, '{"n":1}\n{"n":2}\n');
    await drained();
    rmSync(out);
    appendFileSync(out, '{"other":1}\n{"other":2}\n{"other":3}\n');
    expect(await drained()).toEqual(['{"other":1}\n{"other":2}\n{"other":3}\n']);
    ftruncateSync(openSync(out, "r+"));
    appendFileSync(out, '{"n":4}\n');
    expect(await drained()).toEqual(['{"n":4}\n']);
  });

  test("large files come in parts of whole records", async () => {
    const line = `{"text":"${"x".repeat(999_980)}"}\n`;
    for (let i = 0; i < 11; i++) appendFileSync(out, line);
    const parts = await drained();
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.every((part) => part.length % line.length === 0)).toBe(true);
    expect(parts.join("").length).toBe(11 * line.length);
  });

  test("a record beyond the limit is set aside, and the ones around it come", async () => {
    appendFileSync(out, '{"n":1}\n{"text":"');
    for (let i = 0; i < 90; i++) appendFileSync(out, "x".repeat(1_000_000));
    expect(await drained()).toEqual(['{"n":1}\n']);
    appendFileSync(out, '"}\n{\n  "n": 2\n}\n');
    expect(await drained()).toEqual(['{\n  "n": 2\n}\n']);
    expect(unreadableNative(stateDir).total).toBe(1);
  });

  test("unreadable parts are set aside", async () => {
    appendFileSync(out, "{rubbish}\n");
    await drained(({ reject }) => reject("no record"));
    expect(unreadableNative(stateDir)).toEqual({ total: 1, kept: 1 });
    expect(await drained()).toEqual([]);
  });
});

/** Longer than what is in the file before. */
const LATE = `{"late":"${"x".repeat(100)}"}\n`;

test("killed before or after any step: everything comes, and a second time only what was not done", async () => {
  const bodies = ['{"a":1}', '{"b":2}', '{"c":3}'];
  const lines = ['{"n":1}\n', '{"n":2}\n{"n":3}\n'];
  const run = async (when?: { n: number; when: "before" | "after" }) => {
    stateDir = mkdtempSync(join(tmpdir(), "pending-"));
    mkdirSync(exportedDir(stateDir), { recursive: true });
    out = exportedFile(stateDir, "gemini-cli");
    for (const [i, text] of bodies.entries()) put(text, { source: i === 1 ? "forwarded" : "goose" }, 1_000 + i);
    appendFileSync(out, lines.join(""));
    aged();
    [failAt, passed] = [when, []];
    const [seen, rejected]: [string[], string[]] = [[], []];
    const once = async (): Promise<void> => {
      for await (const body of pendingNative(stateDir, (source) => source === "forwarded")) {
        const text = body.bytes.toString();
        // The last body cannot be read
        (text === bodies[2] ? rejected : seen).push(text);
        await (text === bodies[2] ? body.reject("rubbish") : body.done());
      }
    };
    await once().catch((error: Error) => expect(error.message).toBe("killed"));
    failAt = undefined;
    // What an agent writes after the kill must not hide behind an old position
    appendFileSync(out, LATE);
    await once();
    return { seen, rejected, steps: [...passed] };
  };
  const undisturbed = await run();
  expect(new Set(undisturbed.steps)).toEqual(
    new Set(["native.settle", "forward.queue", "native.refuse", "native.position", "native.empty"]),
  );
  for (let n = 1; n <= undisturbed.steps.length; n++) {
    for (const when of ["before", "after"] as const) {
      const { seen, rejected } = await run({ n, when });
      const where = `${when} step ${n}`;
      const text = seen.join("");
      for (const one of [bodies[0], bodies[1], ...lines, LATE]) expect(text, where).toContain(one);
      expect(rejected, where).toContain(bodies[2]);
      expect(readdirSync(forwardDir(stateDir)), where).toHaveLength(1);
      expect(seen.length + rejected.length, where).toBeLessThanOrEqual(6);
      expect(await drained(), where).toEqual([]);
    }
  }
});
