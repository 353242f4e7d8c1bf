import { expect, test } from "vitest";
import { clip, widthOf } from "#kit/text/terminal.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

test.each([
  ["fix the build", 8, "fix the…"],
  ["fix the build 🙂", 8, "fix the…"],
  ["fix 🙂 the build", 8, "fix 🙂 …"],
  ["fix 🙂 the build", 6, "fix …"],
  ["naive\u0301 plan", 6, "naive\u0301…"],
  ["naive\u0301 plan", 5, "naiv…"],
  ["👩‍👩‍👧 family", 4, "👩‍👩‍👧 …"],
  ["日本語のタイトル", 6, "日本…"],
])("%j in %i columns", (text, columns, clipped) => expect(clip(text, columns)).toBe(clipped));

const graphemes = (text: string): readonly string[] =>
  [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)].map(({ segment }) => segment);

const CHARACTERS = [
  "a",
  " ",
  "é",
  "e\u0301",
  "🙂",
  "👩‍👩‍👧",
  "日",
  "│",
  "\u200d",
  "🇩🇪",
  "ж",
  "カ",
  "か\u3099",
  "한",
  "👍🏽",
];

/** Scripts that are cut without Intl. */
const SINGLE_CHARACTERS = [
  [0x20, 0x7e],
  [0xa1, 0xac],
  [0xae, 0x2ff],
  [0x370, 0x482],
  [0x48a, 0x52f],
  [0x2013, 0x2026],
  [0x2500, 0x259f],
  [0x3001, 0x3029],
  [0x3041, 0x3096],
  [0x30a1, 0x30ff],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xff01, 0xff60],
  [0x1f300, 0x1f3fa],
  [0x1f400, 0x1f64f],
  [0x1f680, 0x1f6ff],
] as const;

test("whole characters that fit, as many as possible", () => {
  const characters = fc.array(
    fc.oneof(
      fc.constantFrom(...CHARACTERS),
      ...SINGLE_CHARACTERS.map(([min, max]) => fc.integer({ min, max }).map((code) => String.fromCodePoint(code))),
    ),
  );
  fc.assert(
    fc.property(characters, fc.integer({ min: 1, max: 12 }), (parts, columns) => {
      const text = parts.join("");
      const clipped = clip(text, columns);
      expect(widthOf(clipped)).toBeLessThanOrEqual(columns);
      if (clipped === text) return;
      const all = graphemes(text);
      let [kept, width] = ["", 0];
      for (const one of all) {
        width += widthOf(one);
        if (width > columns - 1) break;
        kept += one;
      }
      expect(clipped).toBe(`${kept}…`);
    }),
    { numRuns: runs(500) },
  );
});
