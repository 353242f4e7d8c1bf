import { describe, expect, test } from "vitest";
import { decodeEvent, decodePayload, MAX_PARSED_BYTES } from "#collect/intake/payload.ts";
import fc from "../support/properties.ts";

describe("decodePayload", () => {
  const decode = (payload: string | Buffer) => decodePayload(Buffer.from(payload));

  test("reads plain JSON, with any number of byte order marks", () => {
    expect(decode('\ufeff\ufeff{"a":"ü"}\n')).toEqual({ ok: true, value: { a: "ü" }, notes: [] });
  });

  test("escapes raw control characters inside strings, and only there", () => {
    expect(decode('{\n"a":"x\ny\tz\\"\u0001"\n}')).toEqual({
      ok: true,
      value: { a: 'x\ny\tz"\u0001' },
      notes: ["repaired"],
    });
  });

  test("closes cut JSON, and notes it", () => {
    expect(decode('{"id":"a","prompt":"how do')).toEqual({ ok: true, value: { id: "a" }, notes: ["cut"] });
  });

  test("returns a reason without quoting the content", () => {
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

  test("stays bounded if the number of values makes it large", () => {
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

  test("parses 100,000 levels, closed or not, and never throws", () => {
    const open = '{"a":['.repeat(100_000);
    for (const json of [open, `${open}${"]}".repeat(100_000)}`]) expect(decode(json).ok).toBe(true);
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void decode(Buffer.from(bytes))));
  });

  test("does not slow down on a broken text full of escaped quotes", () => {
    const startMs = performance.now();
    decode(`{"a":"\n${'\\"'.repeat(1_000_000)}`);
    decode(`{"a" "${'\\"\n'.repeat(1_000_000)}`);
    expect(performance.now() - startMs).toBeLessThan(30_000);
  });
});

describe("decodeEvent", () => {
  const named = { source: "claude-code", event: "SessionStart" };
  const empty = { ok: true, value: {}, notes: [] };

  test("treats an empty payload as {} if the command line names source and event", () => {
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
