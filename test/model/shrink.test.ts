import { describe, expect, test } from "vitest";
import { shrinkJson } from "#kit/shrink.ts";
import fc from "../support/properties.ts";

const MAX = 12;

/** The expected result of shrinkJson: long string values replaced, names and everything else unchanged. */
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
  test("returns the same value with long strings replaced", () => {
    fc.assert(
      fc.property(value, fc.constantFrom(0, 2), (json, indent) => {
        const shrunk = shrinkJson(Buffer.from(text(json, indent)), { maxStringBytes: MAX });
        if (!shrunk.ok) throw new Error(shrunk.reason);
        expect(shrunk.closed).toBe(false);
        expect(JSON.parse(shrunk.text())).toEqual(replaced(json));
      }),
    );
  });

  test("closes any prefix of an object, and keeps every complete member", () => {
    fc.assert(
      fc.property(object, fc.constantFrom(0, 2), fc.double({ min: 0, max: 1, noNaN: true }), (json, indent, share) => {
        const whole = Buffer.from(text(json, indent));
        const cut = whole.subarray(0, Math.floor(share * whole.length));
        const shrunk = shrinkJson(cut, { maxStringBytes: MAX });
        expect(shrunk.ok).toBe(cut.length > 0);
        const kept = Object.entries(JSON.parse(shrunk.ok ? shrunk.text() : "{}"));
        const members = Object.entries(json);
        // a member is complete if at least one byte follows it
        const endOf = (n: number) =>
          Buffer.byteLength(text(Object.fromEntries(members.slice(0, n + 1)), indent)) - (indent === 0 ? 1 : 2);
        const complete = members.filter((_, n) => endOf(n) < cut.length).length;
        expect(kept.slice(0, complete)).toEqual(
          members.slice(0, complete).map(([name, member]) => [name, replaced(member)]),
        );
      }),
    );
  });

  test("never throws, and returns nothing for text that is not JSON", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void shrinkJson(Buffer.from(bytes))));
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

  test("parses 100,000 levels, closed or not", () => {
    const depth = 100_000;
    const open = '{"a":['.repeat(depth);
    for (const json of [open, `${open}${"]}".repeat(depth)}`]) {
      const shrunk = shrinkJson(Buffer.from(json));
      expect(shrunk.ok && shrunk.text()).toBe(`${open}${"]}".repeat(depth)}`);
    }
  });

  test("omits large values below the top level, even unclosed ones", () => {
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
