import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { configJsonSchema } from "#config/schema.ts";
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
    const units = { Ms: "ms", Bytes: "bytes", Days: "days", Megabytes: "MB", SpansPerSecond: "spans/s" };
    for (const { key, kind, unit } of SETTINGS) {
      const named = Object.entries(units).find(([name]) => key.includes(name));
      if (kind === "number") expect([key, unit]).toEqual([key, named?.[1]]);
    }
  });
});
