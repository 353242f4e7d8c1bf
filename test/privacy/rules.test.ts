import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import { RuleError, userRuleFinders } from "#core/privacy/protection.ts";
import { redactorOf } from "#core/privacy/redact.ts";
import { EMAIL_RULE, HOME_RULES, type Rule, re2, SECRET_RULES } from "#core/privacy/rules.ts";
import { ruleProblem } from "#core/rules/redaction.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { FAMILIES, newSeed, SETTINGS_OF_A_SECRET } from "./secrets.ts";

const ALL: readonly Rule[] = [...SECRET_RULES, EMAIL_RULE, ...HOME_RULES];
const named = ALL.map((rule, i) => [`${i} ${rule.id}`, rule] as const);
const compiled = new Map(ALL.map((rule) => [rule, RE2JS.compile(re2(rule))]));

describe("every rule", () => {
  test.each(named)("%s is valid in RE2 and JavaScript", (_, rule) => {
    const withoutClasses = rule.pattern.replace(/\[(?:\\.|[^\]])*\]/g, "·");
    // Syntax that differs between the two or is missing in one
    expect(withoutClasses).not.toMatch(/\(\?(?!:)|\\[A-Za-z0-9]|(?<!\\)\.|\$(?!\))/);
    expect(rule.pattern).not.toMatch(/\\[1-9kuUcpPsSwWdDbB]|\[\^?\]/);
    expect(ruleProblem(rule.pattern)).toBeUndefined();
    expect(compiled.get(rule)).toBeDefined();
  });

  test.each(named)("%s has no nested unbounded repetition", (_, rule) => {
    // (x+)* and (x*){2,}, which take exponential time to fail
    expect(rule.pattern.replace(/\[(?:\\.|[^\]])*\]/g, "c")).not.toMatch(/[*+]\)[*+]|[*+]\)\{\d+,\}|,\}\)[*+]/);
  });

  test.each(named)("%s is applied wherever it matches, and both engines find it", (_, rule) => {
    let matches = 0;
    // Generated texts are case-sensitive, matches need not be: [^a-z]pw generates Xpw
    const made = fc.stringMatching(new RegExp(rule.pattern, "u"));
    const text = fc.oneof(fc.constantFrom(...texts), { arbitrary: made, weight: 9 });
    fc.assert(
      fc.property(text, (any) => {
        compare(any, [rule]);
        for (const [match] of any.matchAll(inJavaScript(rule))) {
          const searched = rule.ignoreCase === true ? match.toLowerCase() : match;
          expect(
            rule.hints.some((hint) => searched.includes(hint)),
            match,
          ).toBe(true);
          expect(match).toContain(rule.contains ?? "");
          matches++;
        }
      }),
    );
    expect(matches).toBeGreaterThan(20);
  });

  test("finds the same in both engines", () => {
    const word = fc.constantFrom(...WORDS);
    const text = fc.array(fc.oneof(word, fc.string({ unit: "grapheme-ascii", maxLength: 30 })), { maxLength: 8 });
    fc.assert(
      fc.property(
        text.map((parts) => parts.join("")),
        (any) => compare(any),
      ),
      { numRuns: runs(50) },
    );
    for (const any of texts.filter((_, i) => i % 7 === 0)) compare(any);
  });
});

describe("the user's own rules", () => {
  test("are applied with ours, in any form of the text", async () => {
    const own = await userRuleFinders({ ticket: "ACME-[0-9]{4}", customer: "(?i)customer no\\. *[0-9]+" });
    const clean = redactorOf({ own });
    expect(clean("see ACME-1234 of Customer No. 77")).toBe("see [redacted:ticket] of [redacted:customer]");
    expect(clean('"see \\u0041CME-1234"')).toBe('"see [redacted:ticket]"');
    expect(clean("password=hunter2")).toBe("password=[redacted:password]");
    expect(clean(clean("ACME-1234"))).toBe("[redacted:ticket]");
  });

  test("always take linear time", async () => {
    const own = await userRuleFinders({ slow: "(a+)+$", slower: "(a|a)*b" });
    const clean = redactorOf({ own });
    const startedMs = performance.now();
    clean(`${"a".repeat(5_000)}!`);
    expect(performance.now() - startedMs).toBeLessThan(60_000);
  });

  test("that RE2 rejects stop the program, with their names and without their text", async () => {
    await expect(userRuleFinders({ mine: "a(?<=s3cret)" })).rejects.toThrow(RuleError);
    await expect(userRuleFinders({ mine: "a(?<=s3cret)" })).rejects.toThrow(/redaction\.rules\.mine/);
    await expect(userRuleFinders({ mine: "a(?<=s3cret)" })).rejects.not.toThrow(/s3cret/);
  });

  test.each([
    ["a(?=b)", /look-ahead/],
    ["(?<!a)b", /look-behind|look-ahead/],
    ["(a)\\1", /back references/],
    ["a{2000}", /1000/],
    ["a*", /empty/],
    ["(", /not a regular expression/],
    ["x".repeat(2_000), /1000 characters/],
  ])("cannot be %s", (pattern, why) => expect(ruleProblem(pattern)).toMatch(why));

  test.each(["ACME-[0-9]+", "(?i)secret-\\w+", "\\bKD\\d{6}\\b", "(?P<a>x+)y"])("can be %s", (pattern) => {
    expect(ruleProblem(pattern)).toBeUndefined();
    expect(() => RE2JS.compile(pattern)).not.toThrow();
  });
});

// --- internal ---

const WORDS =
  'password secret token key api_key = : := => " \' ` \\ \\" [redacted:password] :// @ % -----BEGIN RSA PRIVATE KEY----- -----END eyJ sk- . bearer basic Authorization: cookie: --token curl -u /home/ C:\\Users\\ AKIA ghp_ \n \t ſ K é'.split(
    " ",
  );

const seed = newSeed();
const texts = Object.values(FAMILIES).flatMap((familyOf) =>
  Object.values(SETTINGS_OF_A_SECRET).map((settingOf) => settingOf(familyOf(seed).text)),
);

const inJavaScript = (rule: Rule): RegExp => new RegExp(rule.pattern, rule.ignoreCase === true ? "giu" : "gu");

function compare(text: string, rules: readonly Rule[] = ALL): void {
  for (const rule of rules) {
    const ours = [...text.matchAll(inJavaScript(rule))].map((match) => [match.index, match[0]]);
    const theirs: unknown[] = [];
    const matcher = compiled.get(rule)?.matcher(text);
    while (matcher?.find() === true) theirs.push([matcher.start(), matcher.group()]);
    expect(theirs, `${rule.id}: ${re2(rule)} in ${JSON.stringify(text)} (seed ${seed})`).toEqual(ours);
  }
}
