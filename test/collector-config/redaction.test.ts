import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { RE2JS } from "re2js";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { EMAIL_RULE, HOME_RULES, re2, SECRET_RULES } from "#core/privacy/rules.ts";
import { CONTENT_ATTRIBUTES } from "#core/telemetry/attributes.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { helmConfigs } from "../../collector-config/src/helm.ts";
import {
  allowedKeys,
  HARMLESS_VALUES,
  redactionProcessors,
  redactionYaml,
} from "../../collector-config/src/redaction.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const shipped = (name: string): string =>
  readFileSync(join(fileURLToPath(new URL("../../collector-config/", import.meta.url)), name), "utf8");

describe("what is generated", () => {
  const advice = "run node scripts/collector-redaction.mjs";

  test("redaction.yaml is up to date", () => {
    expect(shipped("redaction.yaml") === redactionYaml(), advice).toBe(true);
  });

  test("the Helm chart's configurations are up to date", () => {
    for (const [name, text] of helmConfigs(shipped)) {
      expect(shipped(`kubernetes/config/${name}`) === text, `${name}: ${advice}`).toBe(true);
    }
  });

  test("redaction.yaml has the generated processors beside its comments", () => {
    expect(parse(redactionYaml())).toEqual({ processors: redactionProcessors() });
  });

  test("no configuration contains a template that the chart would expand", () => {
    for (const text of helmConfigs(shipped).values()) expect(text).not.toContain("{{");
  });
});

describe("the gateway's list of names", () => {
  const keys = new Set(allowedKeys());

  test("has token counts, and every attribute of ours except content", () => {
    expect([...keys]).toEqual(
      expect.arrayContaining([semconv.GEN_AI_USAGE_INPUT_TOKENS, semconv.OPENHOOK_TOKEN_TYPE, "service.instance.id"]),
    );
    for (const name of CONTENT_ATTRIBUTES) expect(keys.has(name), name).toBe(false);
    // A user who chose to be identified stays identified
    for (const name of ["user.hash", "user.email", "user.name"]) expect(keys.has(name), name).toBe(true);
  });

  test("has no pattern that would mask these by name", () => {
    for (const settings of Object.values(redactionProcessors()))
      expect(settings).not.toHaveProperty("blocked_key_patterns");
  });
});

describe("values that are not searched for secrets", () => {
  const rules = [...SECRET_RULES, EMAIL_RULE, ...HOME_RULES].map((rule) => RE2JS.compile(re2(rule)));

  test.each(HARMLESS_VALUES)("contain nothing that a rule finds: %s", (form) => {
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(form)), (value) => {
        expect(rules.filter((rule) => rule.matcher(value).find())).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });

  test("are shorter than the shortest secrets of their form", () => {
    const forms = HARMLESS_VALUES.map((form) => new RegExp(form));
    for (const secret of [
      `xoxb-${"a".repeat(10)}`,
      `whsec_${"a".repeat(10)}`,
      `sk-ant-${"a".repeat(12)}`,
      `ghp_${"a".repeat(20)}`,
    ]) {
      expect(
        rules.some((rule) => rule.matcher(secret).find()),
        secret,
      ).toBe(true);
      expect(
        forms.some((form) => form.test(secret)),
        secret,
      ).toBe(false);
    }
  });
});

describe("metrics of ours pass the gateway", () => {
  const { processors } = parse(shipped("gateway.yaml"));
  const statements: readonly string[] = processors["transform/carry"].metric_statements.flatMap(
    (group: { readonly statements: readonly string[] }) => group.statements,
  );
  /** The expression of `where not IsMatch(field, "…")`. */
  const wanted = (field: string): RegExp => {
    const found = statements
      .map((statement) => new RegExp(`where not IsMatch\\(${field}, "(.*)"\\)$`).exec(statement)?.[1])
      .find((text) => text !== undefined);
    return new RegExp(JSON.parse(`"${found ?? "no such statement"}"`).replaceAll("$$", "$"));
  };
  const names = new RegExp(
    JSON.parse(`"${/"(.*)"/.exec(processors["filter/metrics"].metric_conditions[0])?.[1] ?? ""}"`).replaceAll(
      "$$",
      "$",
    ),
  );

  test.each([...METRIC_SHAPES.values()])("$name", ({ name, description, unit }) => {
    expect(name).toMatch(names);
    expect(description).toMatch(wanted("metric.description"));
    expect(unit).toMatch(wanted("metric.unit"));
    expect(description).not.toMatch(/(pass|pwd|secret|token|key|auth|credential)[a-z_-]*:/i);
  });
});
