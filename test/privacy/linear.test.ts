// Redaction takes time in proportion to the length of any text: every rule has the form that guarantees it, and texts that are made from
// the rules themselves to be slow are not.
import { describe, expect, test } from "vitest";
import { redactorOf } from "#core/privacy/redact.ts";
import { EMAIL_RULE, HOME_RULES, type Rule, SECRET_RULES } from "#core/privacy/rules.ts";
import { Compiled, reachOf, searchFor } from "#core/privacy/search.ts";
import { firstOf, IS_WHOLE } from "../support/whole.ts";
import { type Part, parsed, samplesOf } from "./patterns.ts";
import { ADVERSARIES, FAMILIES, newSeed, SETTINGS_OF_A_SECRET } from "./secrets.ts";

const RULES: readonly Rule[] = [...SECRET_RULES, EMAIL_RULE, ...HOME_RULES];
const seed = newSeed();

/**
 * Why a pattern may take more than linear time; `undefined` if it cannot. After an unbounded repetition nothing may fail, because
 * the engine would then try every shorter repetition, from every place where the pattern can begin. Everything before is bounded.
 */
function problemOf(pattern: string): string | undefined {
  const problems: string[] = [];
  const check = (alternatives: readonly (readonly Part[])[]): { readonly open: boolean; readonly empty: boolean } => {
    const all = alternatives.map((parts) => {
      let [open, empty] = [false, true];
      for (const part of parts) {
        const own =
          part.alternatives === undefined
            ? { open: false, empty: /^[\^$]$/.test(part.text) }
            : check(part.alternatives);
        const mayBeEmpty = own.empty || part.min === 0;
        if (open && !mayBeEmpty) problems.push(`${part.text} follows an unbounded repetition`);
        if (own.open && part.max > 1 && !mayBeEmpty) problems.push(`${part.text} is repeated and unbounded`);
        if (own.open && part.max === Number.POSITIVE_INFINITY) problems.push(`${part.text} is unbounded twice`);
        open ||= own.open || part.max === Number.POSITIVE_INFINITY;
        empty &&= mayBeEmpty;
      }
      return { open, empty };
    });
    return { open: all.some(({ open }) => open), empty: all.some(({ empty }) => empty) };
  };
  check(parsed(pattern));
  return problems[0];
}

/** Texts that a rule may take long for: its matches and their beginnings, over and over. */
const pumpsOf = (rule: Rule): readonly string[] => [
  ...new Set(
    [
      ...rule.hints,
      ...samplesOf(rule.pattern).flatMap((text) =>
        (IS_WHOLE ? [1, 0.9, 0.6, 0.3] : [0.6]).map((part) => text.slice(0, Math.ceil(text.length * part))),
      ),
    ].filter((text) => text !== ""),
  ),
];

describe("the form of every rule", () => {
  test.each(RULES.map((rule, i) => [`${i} ${rule.id}`, rule.pattern]))(
    "%s: nothing can fail behind an unbounded part",
    (_, pattern) => {
      expect(problemOf(pattern)).toBeUndefined();
      expect(reachOf(pattern)).toBeLessThan(2_500);
    },
  );

  test.each([
    ["a+b", /b follows/],
    ["(?:AKIA)[A-Z0-9]{16,}[\"']?[, ]{1,4}", /follows/],
    ["(?:a+)+", /repeated/],
    ["(?:a*)*", /twice/],
    ["(?:ab*){2,3}", /repeated/],
    ["(?:a|b{2,})c", /c follows/],
  ])("%s has not", (pattern, why) => expect(problemOf(pattern)).toMatch(why));

  test.each(["a+b?", "a(?:b{2,}|c)(?:-d)?", "(^|[^a-z])(a{3})b{1,}", "(?:-[^-]+){0,6}"])("%s has", (pattern) => {
    expect(problemOf(pattern)).toBeUndefined();
  });

  test.each([
    ["abc", 3],
    ["a{2,5}b*", 5],
    ["(^|[^a-z])(ab|abcd){2}$", 9],
    ["[a\\]]{3,}\\[", 4],
    ["(?:x?y+){0,2}", 4],
  ])("the reach of %s is %i", (pattern, reach) => expect(reachOf(pattern)).toBe(reach));
});

describe("a search around hints", () => {
  const FILL = "a word, (code) = 'text';\n".repeat(120);
  const texts = Object.values(FAMILIES).flatMap((familyOf, i) =>
    Object.values(SETTINGS_OF_A_SECRET).map((settingOf, k) => {
      const text = settingOf(familyOf(`${seed}/${i}/${k}`).text);
      return `${FILL}${text}${FILL}${k % 3 === 0 ? `${text.repeat(2)}${FILL}` : ""}`;
    }),
  );

  test("finds what the rules find in the whole text", () => {
    const compiled = RULES.map((rule) => new Compiled(rule));
    const search = searchFor(compiled);
    const pumped = RULES.map((rule) => `${FILL}${samplesOf(rule.pattern).join(FILL)}`);
    for (const text of [...texts, ...pumped]) {
      const found = Array.from(search(text), ({ order, match, index }) => `${order}: ${index} ${match[0]}`);
      const all = compiled.flatMap(({ rule, pattern }, order) => {
        pattern.lastIndex = 0;
        const searched = rule.ignoreCase === true ? text.toLowerCase() : text;
        const canMatch = rule.hints.some((hint) => searched.includes(hint)) && text.includes(rule.contains ?? "");
        return canMatch ? Array.from(text.matchAll(pattern), (match) => `${order}: ${match.index} ${match[0]}`) : [];
      });
      expect(found.toSorted()).toEqual(all.toSorted());
    }
  });
});

describe("a text that was made to be slow", () => {
  const LENGTH = 30_000;
  const clean = redactorOf();
  /** Generous: a quadratic rule takes longer for this length. */
  const MAX_MS = 500;

  function expectFast(unit: string): void {
    const text = unit.repeat(Math.ceil(LENGTH / unit.length));
    const before = process.cpuUsage();
    clean(text);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000, JSON.stringify(unit.slice(0, 200))).toBeLessThan(MAX_MS);
  }

  test.each(firstOf(RULES, 40).map((rule, i) => [`${i} ${rule.id}`, rule] as const))("by %s", (_, rule) => {
    for (const unit of pumpsOf(rule)) expectFast(unit);
  });

  const quoted = (text: string): string => JSON.stringify(text).slice(1, -1);
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const hints = RULES.flatMap((rule) => rule.hints);
  test.each(
    Object.entries({
      ...ADVERSARIES,
      "key ids": "AKIA",
      "home folders": "/home/a/",
      "home folders of Windows": "C:\\Users\\a\\",
      "mail addresses": "a@b.example ",
      markers: "[redacted:user] ",
      "headings of tables": "password|key\n",
      "a row of quotes": `password,${'"'.repeat(LENGTH)}`,
      "a value that ends with brackets": `password=${")".repeat(LENGTH)}a`,
      "a value that looks like code": `password="config${"[".repeat(LENGTH)} x"`,
      "every hint": hints.join(" "),
      "every hint, escaped": quoted(quoted(quoted(hints.map((hint) => `${hint}"`).join("\n")))),
      "every hint, with every escape": hints.map((hint) => `${hint}\\u0041%41&#65;\u001b[1m`).join(" "),
      "every hint in base64": base64(hints.join(" ")),
      "base64 of base64 of escapes": base64(base64(base64("%41&#65;\\x41".repeat(1_000)))),
      "base64 of escapes in lines": `${base64("password key &#65; ".repeat(4))}\n`,
    }),
  )("%s", (_, unit) => expectFast(unit));
});
