// Which forms of secrets are redacted and which ordinary texts stay, measured; docs/privacy.md has the figures.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/replay.ts";
import { FORMS } from "./forms.ts";
import { falsePositives, recall, recallText } from "./recall.ts";

const { formats } = JSON.parse(readFileSync(join(ROOT, "test", "privacy", "formats", "formats.json"), "utf8"));

test("every form is redacted, except those that are named as not expected", () => {
  const found = recall(formats).filter(({ forms }) => forms in FORMS && forms !== "not expected");
  expect(found.flatMap(({ forms, missed }) => missed.map((name) => `${forms}: ${name}`))).toEqual([]);
});

test("nearly all formats of others are redacted", () => {
  const [found] = recall(formats);
  expect(found?.tried).toBeGreaterThan(230);
  expect(found?.missed.length, found?.missed.join(", ")).toBeLessThan(12);
});

test("ordinary texts stay as they are", () => expect(falsePositives()).toEqual([]));

test("docs/privacy.md has the current figures", () => {
  const text = readFileSync(join(ROOT, "docs", "privacy.md"), "utf8");
  const printed = /<!-- recall -->\n([\s\S]*?)\n<!-- \/recall -->/.exec(text)?.[1];
  expect(printed, "run node scripts/redaction-recall.mjs").toBe(recallText(formats));
});
