import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type AttributeName, attributesOf, EXPOSURE, type Exposure } from "#core/telemetry/attributes.ts";
import { recordAtLevel } from "#core/telemetry/level.ts";
import { SELF } from "#core/telemetry/self.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { SHAPES } from "#core/telemetry/shapes.ts";

const HERE = dirname(fileURLToPath(import.meta.url));
const SRC = join(HERE, "..", "..", "src");

/** All code of the program, except the lists that every name is in. */
const code = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((path) => /\.tsx?$/.test(path) && !/telemetry.(?:attributes|semconv)\.ts$/.test(path))
  .map((path) => readFileSync(join(SRC, path), "utf8"))
  .join("\n");
const isUsed = (name: string): boolean => new RegExp(`(?<![\\w.])${name.replace(".", "\\.")}\\b`).test(code);

test("a new attribute without an exposure does not compile", () => {
  const { [semconv.OPENHOOK_MCP_SERVER]: left, ...others } = EXPOSURE;
  // @ts-expect-error one attribute is missing
  const incomplete: Readonly<Record<AttributeName, Exposure>> = others;
  expect(Object.keys(incomplete)).not.toContain(semconv.OPENHOOK_MCP_SERVER);
  expect(left).toBe("name");
});

describe("nothing is declared that is never sent", () => {
  test.each(Object.keys(semconv))("attribute %s", (name) => expect(isUsed(`semconv.${name}`)).toBe(true));
  test.each(Object.keys(SHAPES))("metric %s", (name) => expect(isUsed(`SHAPES.${name}`)).toBe(true));
  test.each(Object.keys(SELF))("own metric %s", (name) => expect(isUsed(`SELF.${name}`)).toBe(true));

  test("a name without a use would be found", () => {
    expect(isUsed("semconv.OPENHOOK_PLANTED")).toBe(false);
    expect(isUsed("SHAPES.token")).toBe(false);
  });
});

test("every attribute of the recorded deliveries has an exposure", () => {
  const sent = readdirSync(join(HERE, "sent")).map((file) => readFileSync(join(HERE, "sent", file), "utf8"));
  const names = new Set(
    sent.flatMap((text) => [...text.matchAll(/(?<=[\s{])([a-z0-9_.]+)=/g)].map(([, name]) => name)),
  );
  expect(names.size).toBeGreaterThan(40);
  const unknown = [...names].filter((name) => name !== undefined && !Object.hasOwn(EXPOSURE, name));
  expect(unknown).toEqual([]);
});

test("at none no attribute with the exposure name or content is left, whatever it is called", () => {
  const removed = [...attributesOf("name", "content")];
  const record = recordAtLevel(
    {
      traceId: "0".repeat(32),
      spanId: "1".repeat(16),
      name: "invoke_agent claude-code",
      kind: "internal",
      startMs: 1,
      endMs: 2,
      status: { code: "unset" },
      attributes: Object.fromEntries(Object.keys(EXPOSURE).map((name) => [name, "acme"])),
      links: [],
      events: [],
      resource: { "service.name": "claude-code", "service.version": "2.1.329" },
    },
    "none",
    () => undefined,
  );
  expect(removed.length).toBeGreaterThan(8);
  expect(Object.keys(record.attributes).filter((name) => removed.includes(name))).toEqual([]);
  for (const name of attributesOf("reduced")) expect(record.attributes[name], name).not.toBe("acme");
});
