// docs/privacy.md describes the program's current behaviour.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MAX_ATTRIBUTES, MAX_VALUE_CHARACTERS, PROJECT_FILE, projectSettingsIn } from "#config/project.ts";
import { SETTINGS, targetOf } from "#config/settings.ts";
import { CAPTURE_LEVELS } from "#core/model/capture.ts";
import { MAX_SCANNED } from "#core/privacy/redact.ts";
import { EMAIL_RULE, HOME_RULES, SECRET_RULES } from "#core/privacy/rules.ts";
import { ROOT } from "../support/replay.ts";

const text = readFileSync(join(ROOT, "docs", "privacy.md"), "utf8");

test("every rule is named, and no other", () => {
  const listed = /<!-- rules -->([\s\S]*?)<!-- \/rules -->/.exec(text)?.[1] ?? "";
  const rules = new Set([...SECRET_RULES, EMAIL_RULE, ...HOME_RULES].map(({ id }) => id));
  expect([...listed.matchAll(/`([^`]+)`/g)].map(([, id]) => id)).toEqual([...rules]);
});

test("every setting in it exists", () => {
  for (const [, key = ""] of text.matchAll(/`((?:redaction|identity|otlp)\.[a-zA-Z.]+)`/g)) {
    expect(SETTINGS.some((setting) => setting.key === key) || targetOf(key) !== undefined, key).toBe(true);
  }
  expect(targetOf("redaction.rules.ticket")).toBeDefined();
  for (const level of CAPTURE_LEVELS) expect(text).toContain(`\`${level}\``);
});

test("its limits and its example of a project file match the program", () => {
  expect(text).toContain(`up to ${MAX_ATTRIBUTES} texts of up to ${MAX_VALUE_CHARACTERS} characters`);
  expect(text).toContain(`${MAX_SCANNED.toLocaleString("en")} characters`);
  expect(text).toContain(`\`${PROJECT_FILE}\``);
  for (const key of ["disabled", "capture", "attributes"]) {
    expect(projectSettingsIn({ path: "p", text: JSON.stringify({ [key]: null }) }).warnings.join()).not.toMatch(
      /can only set/,
    );
  }
});
