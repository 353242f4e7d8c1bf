import { expect, test } from "vitest";
import { appendTo, parseDocument, plainOf, removeAt } from "#agents/shared/settings/jsonc.ts";
import fc from "../../../support/properties.ts";
import { runs } from "../../../support/whole.ts";

/** A list on several lines: elements with optional comments around them. */
const layout = fc.record({
  eol: fc.constantFrom("\n", "\r\n"),
  indent: fc.constantFrom("  ", "\t"),
  items: fc.array(
    fc.record({
      above: fc.option(fc.constantFrom("// above", "/* above */"), { nil: undefined }),
      behind: fc.option(fc.constantFrom("// behind", "/* behind */"), { nil: undefined }),
      /** The comment comes before the comma. */
      beforeComma: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  trailingComma: fc.boolean(),
  last: fc.option(fc.constant("// end"), { nil: undefined }),
});

type Layout = typeof layout extends fc.Arbitrary<infer T> ? T : never;

const textOf = ({ eol, indent, items, trailingComma, last }: Layout): string => {
  const lines = items.flatMap(({ above, behind, beforeComma }, at) => {
    const comma = at < items.length - 1 || trailingComma ? "," : "";
    const isLine = behind?.startsWith("//") === true;
    const note = behind === undefined ? "" : ` ${behind}`;
    const item = `${indent}{ "n": ${at} }`;
    return [
      ...(above === undefined ? [] : [`${indent}${above}`]),
      beforeComma && !isLine ? `${item}${note}${comma}` : `${item}${comma}${note}`,
    ];
  });
  return ["[", ...lines, ...(last === undefined ? [] : [`${indent}${last}`]), "]", ""].join(eol);
};

test("adding an element at the end of a list and removing it restores every byte", () => {
  fc.assert(
    fc.property(layout, (value) => {
      const text = textOf(value);
      const grown = appendTo(text, [], undefined, { ours: true });
      expect(plainOf(parseDocument(grown))).toEqual([...value.items.map((_, n) => ({ n })), { ours: true }]);
      expect(removeAt(grown, [value.items.length])).toBe(text);
    }),
    { numRuns: runs(1000) },
  );
});
