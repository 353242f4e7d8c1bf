import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { invalidNameReason, invalidReason } from "#config/check.ts";
import { Config, configJsonSchema } from "#config/schema.ts";
import type { Setting } from "#config/setting.ts";
import { SETTINGS } from "#config/settings.ts";
import { at } from "./help.ts";

describe("the published JSON Schemas", () => {
  it("match the zod schemas", async () => {
    // exits 1 and says which one is stale
    await promisify(execFile)(process.execPath, ["scripts/schema.mjs", "--check"]);
    expect(JSON.parse(await readFile("schema/config.schema.json", "utf8"))).toEqual(configJsonSchema());
  });

  it("contain every setting with its description and default, and no other", () => {
    const schema = configJsonSchema();
    for (const setting of SETTINGS) {
      const published = at(
        schema,
        setting.path.flatMap((name) => ["properties", name]),
      );
      expect([setting.key, at(published, ["description"])]).toEqual([setting.key, setting.description]);
      expect(setting.description).toMatch(/^\S.{10,}\.$/);
      expect([setting.key, at(published, ["default"])]).toEqual([setting.key, setting.default]);
    }
    expect(at(schema, ["additionalProperties"])).toBe(false);
    expect(at(schema, ["properties", "otlp", "properties", "traces", "additionalProperties"])).toBe(false);
    expect(Object.keys(Object(at(schema, ["properties"])))).toContain("$schema");
  });

  it("contain the unit of every number that has one", () => {
    const units = {
      Ms: "ms",
      Bytes: "bytes",
      Days: "days",
      Megabytes: "MB",
      SpansPerSecond: "spans/s",
      "budget.": "USD",
    };
    for (const { key, kind, unit } of SETTINGS) {
      const named = Object.entries(units).find(([name]) => key.includes(name));
      if (kind === "number") expect([key, unit]).toEqual([key, named?.[1]]);
    }
  });
});

describe("the check of one value, which works without zod", () => {
  /** Values that some settings accept, and others that each kind of setting must refuse. */
  const VALUES: readonly unknown[] = [
    ...[true, false, null, 0, 1, -1, 0.5, 65_536, 2 ** 53, Number.NaN, "", " ", "x", "a\nb", "ä", [], {}],
    ...["http://a", "https://a:4318/x", "ftp://a", "http://", "http://u:p@a", "http://a/{trace_id}", "localhost:4318"],
    ...[
      "/etc/x",
      "/a:/b",
      "/a:b",
      "direct",
      "a, *.b.example",
      "*.",
      "[A-Z]+-\\d+",
      "(",
      "(?=x)",
      "x*",
      "sixteen characters",
    ],
    ...[
      { endpoint: "http://a" },
      { endpoint: "https://a", headers: { authorization: "Bearer x" }, protocol: "http/json" },
      { endpoint: "https://a", headers: { authorization: "a\nb" } },
      { endpoint: "https://a", headers: { "a b": "x" } },
      { endpoint: "https://a", headers: { a: 1 } },
      { endpoint: "https://a", headers: ["x"] },
      { endpoint: "http://a", protocol: "grpc" },
      { endpoint: "http://a", compression: "gzip" },
      { headers: {} },
    ],
    ...SETTINGS.flatMap(({ choices }) => choices),
    ...SETTINGS.flatMap(({ least, most }) => [least, most, (least ?? 0) - 1, (most ?? 0) + 1]),
  ];

  const acceptedBySchema = (setting: Setting, value: unknown): boolean => {
    const whole = setting.path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
    return Config.safeParse(whole).success;
  };

  it.each(SETTINGS.map((setting) => [setting.key, setting] as const))(
    "decides as the schema does: %s",
    (_, setting) => {
      for (const value of VALUES.filter((value) => value !== undefined)) {
        const isMap = setting.kind === "map";
        const expected = acceptedBySchema(setting, isMap ? { name: value } : value);
        expect([value, invalidReason(setting, value) === undefined]).toEqual([value, expected]);
        if (!isMap || typeof value !== "string") continue;
        const valid = [1, "[a-z]+", "openai", { endpoint: "http://a" }].find((one) =>
          acceptedBySchema(setting, { name: one }),
        );
        const nameExpected = acceptedBySchema(setting, { [value]: valid });
        expect([value, invalidNameReason(setting, value) === undefined]).toEqual([value, nameExpected]);
      }
    },
  );
});
