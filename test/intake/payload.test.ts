import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeEvent, decodePayload, MAX_PARSED_BYTES } from "../../src/intake/payload.ts";
import { shrinkJson } from "../../src/intake/shrink.ts";

const MAX = 12;

/** What shrinkJson shall make of a value: long string values replaced, names and all else as they are. */
function replaced(value: unknown): unknown {
  if (typeof value === "string") {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    return bytes - 2 > MAX ? `[${bytes} bytes left out]` : value;
  }
  if (Array.isArray(value)) return value.map(replaced);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaced(member)]));
}

const value = fc.jsonValue({ maxDepth: 5 }).map((json): unknown => JSON.parse(JSON.stringify(json)));
const object = fc
  .dictionary(fc.string(), value, { minKeys: 1 })
  .map((json): object => JSON.parse(JSON.stringify(json)));
const text = (json: unknown, indent: number) => JSON.stringify(json, undefined, indent);

describe("shrinkJson", () => {
  test("gives the same value with long strings replaced", () => {
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (json, indent) => {
        const shrunk = shrinkJson(Buffer.from(text(json, indent)), { maxStringBytes: MAX });
        if (!shrunk.ok) throw new Error(shrunk.reason);
        expect(shrunk.closed).toBe(false);
        expect(JSON.parse(shrunk.text())).toEqual(replaced(json));
      }),
    );
  });

  test("closes any beginning of an object, and keeps every member that was complete", () => {
    fc.assert(
      fc.property(object, fc.constantFrom(0, 2), fc.double({ min: 0, max: 1, noNaN: true }), (json, indent, share) => {
        const whole = Buffer.from(text(json, indent));
        const cut = whole.subarray(0, Math.floor(share * whole.length));
        const shrunk = shrinkJson(cut, { maxStringBytes: MAX });
        expect(shrunk.ok).toBe(cut.length > 0);
        const kept = Object.entries(JSON.parse(shrunk.ok ? shrunk.text() : "{}"));
        const members = Object.entries(json);
        // a member is complete when at least one byte behind it is there
        const endOf = (n: number) =>
          Buffer.byteLength(text(Object.fromEntries(members.slice(0, n + 1)), indent)) - (indent === 0 ? 1 : 2);
        const complete = members.filter((_, n) => endOf(n) < cut.length).length;
        expect(kept.slice(0, complete)).toEqual(
          members.slice(0, complete).map(([name, member]) => [name, replaced(member)]),
        );
      }),
    );
  });

  test("never makes JSON of what is none: the outcome parses only where it should, and nothing throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        shrinkJson(Buffer.from(bytes));
        decodePayload(Buffer.from(bytes));
      }),
    );
    for (const wrong of ["{]", "[1 2]", '{"a" 1}', '{"a":1,}', "{}{}", "{1:2}", "}", "", " \n", '"open']) {
      const shrunk = shrinkJson(Buffer.from(wrong));
      expect(shrunk.ok, wrong).toBe(false);
    }
  });

  test.each([
    ['{"id":"a","rest":"xyz', '{"id":"a"}'],
    ['{"id":"a","n":12', '{"id":"a"}'],
    ['{"id":"a","flag":tru', '{"id":"a"}'],
    ['{"id":"a","in":{"b":[1,2', '{"id":"a","in":{"b":[1]}}'],
    ['{"id":"a","in":{"b":[1,{"c":"\\"', '{"id":"a","in":{"b":[1,{}]}}'],
    ['{"id":"\\\\","x', '{"id":"\\\\"}'],
    ["{", "{}"],
  ])("%s becomes %s", (cut, closed) => {
    const shrunk = shrinkJson(Buffer.from(cut));
    expect(shrunk).toMatchObject({ ok: true, closed: true });
    expect(shrunk.ok && shrunk.text()).toBe(closed);
  });

  test("goes 100,000 levels deep, closed or not", () => {
    const depth = 100_000;
    const open = '{"a":['.repeat(depth);
    for (const json of [open, `${open}${"]}".repeat(depth)}`]) {
      const shrunk = shrinkJson(Buffer.from(json));
      expect(shrunk.ok && shrunk.text()).toBe(`${open}${"]}".repeat(depth)}`);
      expect(decodePayload(Buffer.from(json)).ok).toBe(true);
    }
  });

  test("leaves out large values below the top, also one that never ends", () => {
    const large = JSON.stringify(Array.from({ length: 200 }, (_, n) => n));
    for (const end of [`${large},"id":"a"}`, large.slice(0, 300)]) {
      const shrunk = shrinkJson(Buffer.from(`{"before":[1],"large":${end}`), { maxNestedBytes: 100 });
      expect(shrunk).toMatchObject({ ok: true, leftOut: 1 });
      expect(JSON.parse(shrunk.ok ? shrunk.text() : "")).toEqual({
        before: [1],
        large: expect.stringMatching(/^\[\d+ bytes left out\]$/),
        ...(end.endsWith("}") ? { id: "a" } : {}),
      });
    }
  });
});

describe("decodePayload", () => {
  const decode = (payload: string | Buffer) => decodePayload(Buffer.from(payload));

  test("reads plain JSON, with any number of byte order marks", () => {
    expect(decode('\ufeff\ufeff{"a":"ü"}\n')).toEqual({ ok: true, value: { a: "ü" }, notes: [] });
  });

  test("escapes raw control characters inside strings, and only there", () => {
    expect(decode('{\n"a":"x\ny\tz\\"\u0001"\n}')).toEqual({
      ok: true,
      value: { a: 'x\ny\tz"\u0001' },
      notes: ["mended"],
    });
  });

  test("closes what was cut, and says so", () => {
    expect(decode('{"id":"a","prompt":"how do')).toEqual({ ok: true, value: { id: "a" }, notes: ["cut"] });
  });

  test("says why it cannot, without quoting the content", () => {
    expect(decode("")).toEqual({ ok: false, reason: "the payload is empty" });
    for (const wrong of ["planted", '{"a":planted}', '{"a":"planted"} planted', "\u0000\u00ff"]) {
      const decoded = decode(wrong);
      expect(decoded).toMatchObject({ ok: false, reason: expect.stringMatching(/^the payload is not JSON: /) });
      expect(JSON.stringify(decoded)).not.toContain("planted");
    }
  });

  test("shortens 60 MB and keeps ids and names", () => {
    const content = "x\\n".repeat(20_000_000);
    const json = `{"id":"a","tool_input":{"file":"b","content":"${content}"},"last":[1,2]}`;
    expect(decode(json)).toEqual({
      ok: true,
      value: { id: "a", tool_input: { file: "b", content: "[60000002 bytes left out]" }, last: [1, 2] },
      notes: ["shortened"],
    });
    expect(decode(json.slice(0, -100))).toEqual({
      ok: true,
      value: { id: "a", tool_input: { file: "b" } },
      notes: ["cut"],
    });
  });

  test("stays bounded when it is the number of values that makes it large", () => {
    const rows = `[${'{"k":"some short value"},'.repeat(400_000)}1]`;
    expect(rows.length).toBeGreaterThan(2 * MAX_PARSED_BYTES);
    const placeholder = expect.stringMatching(/bytes left out/);
    expect(decode(`{"id":"a","rows":${rows},"z":1}`)).toMatchObject({
      ok: true,
      value: { id: "a", rows: placeholder, z: 1 },
    });
    expect(decode(`{"id":"a","rows":${rows.slice(0, -9)}`)).toMatchObject({
      ok: true,
      value: { id: "a", rows: placeholder },
    });
    expect(decode(`{${'"short":"member",'.repeat(400_000)}"z":1}`)).toMatchObject({ ok: false });
    // 5 MB of opening brackets
    expect(decode("[".repeat(5_000_000)).ok).toBe(true);
  });

  test("does not slow down on a broken text full of escaped quotes", () => {
    const startMs = performance.now();
    decode(`{"a":"\n${'\\"'.repeat(1_000_000)}`);
    decode(`{"a" "${'\\"\n'.repeat(1_000_000)}`);
    expect(performance.now() - startMs).toBeLessThan(5_000);
  });
});

describe("decodeEvent", () => {
  const named = { source: "claude-code", event: "SessionStart" };
  const empty = { ok: true, value: {}, notes: [] };

  test("takes an empty payload for {} where the command line says whose and which event it is", () => {
    for (const text of ["", " \r\n", "\uFEFF", "\uFEFF\n"])
      expect(decodeEvent(Buffer.from(text), named)).toEqual(empty);
    for (const facts of [{}, { source: "claude-code" }, { event: "SessionStart" }]) {
      expect(decodeEvent(Buffer.alloc(0), facts)).toEqual({ ok: false, reason: "the payload is empty" });
    }
  });

  test("is decodePayload for everything else", () => {
    for (const text of ["{}", "[1]", "null", "nonsense", " ".repeat(99), `${" ".repeat(99)}{"a":1}`, '{"a":']) {
      expect(decodeEvent(Buffer.from(text), named)).toEqual(decodePayload(Buffer.from(text)));
    }
  });
});
