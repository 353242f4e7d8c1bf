import fc from "fast-check";
import { expect, test } from "vitest";
import { clip, widthOf } from "../../src/text/terminal.ts";
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

test("whole characters that fit, as many as possible", () => {
  const characters = fc.array(fc.constantFrom("a", " ", "é", "e\u0301", "🙂", "👩‍👩‍👧", "日", "│", "\u200d", "🇩🇪"));
  fc.assert(
    fc.property(characters, fc.integer({ min: 1, max: 12 }), (parts, columns) => {
      const text = parts.join("");
      const clipped = clip(text, columns);
      expect(widthOf(clipped)).toBeLessThanOrEqual(columns);
      if (clipped === text) return;
      const all = [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)].map(
        ({ segment }) => segment,
      );
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
