import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isCut, makeShortener } from "#agents/shared/transcript/shorten.ts";
import { MODULES } from "../../../../scripts/wasm.mjs";
import fc from "../../../support/properties.ts";
import { runs } from "../../../support/whole.ts";

const CAPACITY = 1 << 16;
const shortener = makeShortener(CAPACITY);

/** The lines found in a text, each with its position and shortened text. */
function linesOf(text: string | Buffer) {
  if (shortener === undefined) throw new Error("this engine cannot run the shortener");
  const size = Buffer.from(text).copy(shortener.bytes);
  return [...shortener.lines(0, size)].map((line) => ({
    whole: shortener.bytes.toString("utf8", line.start, line.end),
    short: line.text(),
    isCut: line.isCut,
  }));
}

const letter = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", " ", "\\", '"', "/", "\n", "\u0001", "\u2028") },
  fc.constantFrom("ß", "漢", "🙂", "\ud83d"),
);
const long = fc.array(letter, { maxLength: 700 }).map((letters) => letters.join(""));
const json = fc.oneof(fc.jsonValue(), fc.dictionary(fc.oneof(long, fc.string()), fc.oneof(long, fc.jsonValue())));

describe("lines", () => {
  test("are split only at line feeds, with any content", () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    const marks = fc.array(fc.constantFrom('"', "\\", "\n", "a", '\\"', "\\\n", '"\n', "{}"), { maxLength: 60 });
    fc.assert(
      fc.property(
        fc.oneof(
          bytes.map((all) => Buffer.from(all)),
          marks.map((all) => Buffer.from(all.join(""))),
        ),
        (text) => {
          const found = linesOf(text).map(({ whole }) => whole);
          const parts: string[] = [];
          for (let start = 0, at = text.indexOf(10); at !== -1; start = at + 1, at = text.indexOf(10, start)) {
            parts.push(text.toString("utf8", start, at));
          }
          expect(found).toEqual(parts);
        },
      ),
      { numRuns: runs(2_000) },
    );
  });

  test("are all found if there are more than fit into one table", () => {
    const all = Array.from({ length: 5_000 }, (_, i) => `{"n":${i}}`);
    expect(linesOf(all.map((line) => `${line}\n`).join("")).map(({ short }) => short)).toEqual(all);
  });

  test("exclude an incomplete last line", () => {
    expect(linesOf('{"a":1}\n{"b":"').map(({ whole }) => whole)).toEqual(['{"a":1}']);
    expect(linesOf('{"b":"\\')).toEqual([]);
  });
});

describe("texts", () => {
  test("are JSON of the same shape; strings are whole or cut to their beginning", () => {
    const compare = (short: unknown, whole: unknown): void => {
      if (typeof whole === "string" && short !== whole) {
        expect(typeof short === "string" && isCut(short)).toBe(true);
        const kept = String(short).slice(0, -1);
        // A cut can separate a surrogate pair that JSON wrote as two escapes
        expect(whole.startsWith(kept)).toBe(true);
        expect(Buffer.byteLength(JSON.stringify(whole))).toBeGreaterThan(192);
        return;
      }
      if (typeof whole !== "object" || whole === null) {
        expect(short).toEqual(whole);
        return;
      }
      expect(Array.isArray(short)).toBe(Array.isArray(whole));
      const [shortMembers, members] = [Object.entries(short as object), Object.entries(whole)];
      expect(shortMembers.length <= members.length).toBe(true);
      if (shortMembers.length < members.length) return; // two long keys with the same beginning
      members.forEach(([key, value], i) => {
        const [shortKey = "", shortValue] = shortMembers[i] ?? [];
        if (shortKey !== key) expect(isCut(shortKey) && key.startsWith(shortKey.slice(0, -1))).toBe(true);
        compare(shortValue, value);
      });
    };
    fc.assert(
      fc.property(fc.array(json, { minLength: 1, maxLength: 4 }), fc.boolean(), (values, spaced) => {
        const texts = values.map((value) =>
          spaced ? JSON.stringify(value, null, 1).replaceAll("\n", "\t") : JSON.stringify(value),
        );
        const found = linesOf(texts.map((text) => `${text}\n`).join(""));
        expect(found.map(({ whole }) => whole)).toEqual(texts);
        found.forEach(({ short, isCut: cut }, i) => {
          if (!cut) expect(short).toBe(texts[i]);
          compare(JSON.parse(short), JSON.parse(texts[i] ?? ""));
        });
      }),
      { numRuns: runs(500) },
    );
  });

  const cutTo = (members: object): unknown => JSON.parse(linesOf(`${JSON.stringify(members)}\n`)[0]?.short ?? "");

  test("keep the beginning of a long string, up to the first character that is not ASCII", () => {
    const [x, y] = ["x".repeat(193), "y".repeat(192)];
    expect(cutTo({ a: x, b: y })).toEqual({ a: `${x.slice(0, 96)}\0`, b: y });
    expect(cutTo({ a: `xß${x}`, b: `\n\u0001${x}` })).toEqual({ a: "x\0", b: `\n\u0001${x.slice(0, 88)}\0` });
  });

  test("keep longer commands", () => {
    for (const name of ["command", "arguments"]) {
      const [whole, long] = ["x".repeat(384), "x".repeat(385)];
      expect(cutTo({ [name]: whole })).toEqual({ [name]: whole });
      expect(cutTo({ [name]: long })).toEqual({ [name]: `${long.slice(0, 96)}\0` });
    }
    const text = "x".repeat(193);
    expect(linesOf(`"${text}"\n`)).toMatchObject([{ short: `"${text.slice(0, 96)}\\u0000"` }]);
  });
});

test.each(MODULES)("the WebAssembly in the program is compiled from its source: $path", async ({ path, text }) => {
  expect(readFileSync(path, "utf8")).toBe(await text());
});
