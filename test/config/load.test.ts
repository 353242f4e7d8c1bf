import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadConfig } from "#config/load.ts";
import { otlpSettings } from "#config/otlp.ts";
import { Config } from "#config/schema.ts";
import { SETTINGS } from "#config/settings.ts";
import fc from "../support/properties.ts";
import { makeUnreadable } from "../support/unreadable.ts";
import { runs } from "../support/whole.ts";
import { makePlace } from "./help.ts";

const place = makePlace();
afterAll(place.remove);

const sends = (config: Config) => {
  const { traces, metrics } = otlpSettings(config, { version: "0", instanceId: "i", os: "linux", arch: "x64" });
  return [traces?.url, metrics?.url];
};
const NOTHING = [undefined, undefined];

describe("the file", () => {
  it("may be missing, empty, or contain only a comment", async () => {
    for (const file of [undefined, "", "  \n", "{}", '\uFEFF{ "$schema": "./config.schema.json" }']) {
      const loaded = await place.load(file);
      expect(loaded.config).toEqual(Config.parse({}));
      expect([...loaded.errors, ...loaded.warnings]).toEqual([]);
    }
  });

  it("may contain comments and trailing commas", async () => {
    const { config, errors } = await place.load(`// mine\n{ "otlp": { "endpoint": "http://a.example", /* x */ }, }`);
    expect([config.otlp.endpoint, errors]).toEqual(["http://a.example", []]);
  });

  it.each<[Record<string, unknown>, string, number?]>([
    [{ otlp: { endpont: "http://a.example" } }, '"otlp.endpont" is ignored. Did you mean otlp.endpoint?', 4],
    [{ endpoint: "http://a.example" }, '"endpoint" is ignored. Did you mean otlp.endpoint?'],
    [{ otpl: {} }, '"otpl" is ignored. Did you mean otlp?'],
    [{ "otlp.timeoutMs": 3 }, 'Write it nested: { "otlp": { "timeoutMs": … } }.'],
    [{ zebra: 1 }, '"zebra" is ignored.'],
  ])("an unknown key is named with its place, the rest applies: %j", async (unknown, words, line = 3) => {
    const { config, warnings, errors } = await place.load({ semconv: "latest", ...unknown });
    expect(config).toEqual(Config.parse({ semconv: "latest" }));
    expect(errors).toEqual([]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(words);
    expect(warnings[0]).toContain(`${place.configPath}:${line}: `);
  });

  it("warns about a repeated key", async () => {
    const { warnings } = await place.load('{\n "semconv": "both",\n "semconv": "latest"\n}');
    expect(warnings).toEqual([`${place.configPath}:3: "semconv" is repeated here; keep one`]);
  });

  it.each([
    [{ otlp: { timeoutMs: "soon" } }, 'otlp.timeoutMs must be a whole number from 1 to 600000 (ms), not "soon"'],
    [{ otlp: { compression: "zstd" } }, 'otlp.compression must be "gzip" or "none", not "zstd"'],
    [{ session: { idleTimeoutMs: 0 } }, "session.idleTimeoutMs must be a whole number from 1 upwards (ms), not 0"],
    [{ session: 5 }, "session must be an object, not a number"],
    [{ resource: { attributes: { a: 1 } } }, "resource.attributes.a must be a string, not 1"],
    [{ resource: { attributes: ["a"] } }, "resource.attributes must be an object of names and strings, not a list"],
    [{ traces: { scope: null } }, 'traces.scope must be "session" or "turn", not null'],
  ])("a value that does not fit is an error and its default applies: %j", async (broken, words) => {
    const { config, errors } = await place.load({ disabled: true, ...broken });
    expect(config).toEqual(Config.parse({ disabled: true }));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(words);
    const prefix = `${place.configPath}:`;
    expect(errors[0]?.startsWith(prefix)).toBe(true);
    expect(errors[0]?.slice(prefix.length)).toMatch(/^\d+: /);
  });
});

describe("an invalid destination setting has no fallback", () => {
  const endpoint = "http://a.example";
  const both = ["http://a.example/v1/traces", "http://a.example/v1/metrics"];

  it.each([
    ["not JSON", '{ "otlp": '],
    ["no object", "[]"],
    ["section", { otlp: "http://a.example" }],
    ["endpoint", { otlp: { endpoint: "a.example:4318" } }],
    ["endpoint with a password", { otlp: { endpoint: "http://ada:s3cret@a.example" } }],
    ["headers", { otlp: { endpoint, headers: "authorization=s3cret" } }],
    ["one header", { otlp: { endpoint, headers: { authorization: ["s3cret"] } } }],
    ["a line break in a header", { otlp: { endpoint, headers: { authorization: "s3cret\nx" } } }],
    ["a header's name", { otlp: { endpoint, headers: { "authorization: Bearer s3cret": "" } } }],
    ["protocol", { otlp: { endpoint, protocol: "http/thrift" } }],
    ["certificate", { otlp: { endpoint, certificate: 1 } }],
    ["disabled", { otlp: { endpoint }, disabled: "yes" }],
  ])("%s", async (_, file) => {
    const { config, errors, sources } = await place.load(file);
    expect(sends(config)).toEqual(NOTHING);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(place.configPath);
    expect(errors[0]).toContain("export is off until this is fixed");
    expect(errors[0]).not.toContain("s3cret");
    expect(sources.get("otlp.traces.enabled")).toEqual({ kind: "withheld" });
  });

  it.each([
    ["endpoint", { otlp: { endpoint, traces: { endpoint: "traces" } } }],
    ["headers", { otlp: { endpoint, traces: { headers: 1 } } }],
    ["enabled", { otlp: { endpoint, traces: { enabled: "no" } } }],
    ["section", { otlp: { endpoint, traces: false } }],
  ])("an invalid setting of one signal stops only that signal: %s", async (_, file) => {
    const { config, errors } = await place.load(file);
    expect(sends(config)).toEqual([undefined, both[1]]);
    expect(errors).toHaveLength(1);
  });

  it("an invalid variable of ours does not fall back to the file", async () => {
    const loaded = await place.load({ otlp: { endpoint } }, { OPENHOOK_OTEL_OTLP_ENDPOINT: "b.example" });
    expect(sends(loaded.config)).toEqual(NOTHING);
    expect(loaded.config.otlp.endpoint).toBeUndefined();
    expect(loaded.errors[0]).toContain("environment variable OPENHOOK_OTEL_OTLP_ENDPOINT");
  });

  it("an invalid setting is reported, but stops nothing, if a variable overrides it", async () => {
    const loaded = await place.load({ otlp: { endpoint: 5 } }, { OPENHOOK_OTEL_OTLP_ENDPOINT: endpoint });
    expect(sends(loaded.config)).toEqual(both);
    expect(loaded.errors).toHaveLength(1);
  });

  it("an unreadable file stops all export, whatever the environment contains", async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
    expect(sends((await place.load("{", env)).config)).toEqual(NOTHING);
    rmSync(place.configPath, { force: true });
    mkdirSync(place.configPath);
    const loaded = await loadConfig({ env, places: { configPath: place.configPath } });
    rmSync(place.configPath, { recursive: true });
    expect(sends(loaded.config)).toEqual(NOTHING);
    expect(loaded.errors[0]).toMatch(/cannot be read \(EISDIR\)/);
  });

  it("a file without read permission stops all export", async () => {
    await place.load({ otlp: { endpoint } });
    const code = makeUnreadable(place.configPath);
    const loaded = await loadConfig({ env: {}, places: { configPath: place.configPath } });
    rmSync(place.configPath);
    expect(sends(loaded.config)).toEqual(NOTHING);
    expect(loaded.errors[0]).toContain(code);
  });
});

describe("our variables", () => {
  it("have unique names, one for each setting", () => {
    expect(new Set(SETTINGS.map(({ variable }) => variable)).size).toBe(SETTINGS.length);
    expect(SETTINGS.map(({ variable }) => variable)).toContain("OPENHOOK_OTEL_SESSION_IDLE_TIMEOUT_MS");
  });

  it("accept maps as pairs and as JSON", async () => {
    for (const text of ["a=1%2C2,b=x=y", '{"a":"1,2","b":"x=y"}']) {
      const { config } = await place.load(undefined, { OPENHOOK_OTEL_RESOURCE_ATTRIBUTES: text });
      expect(config.resource.attributes).toEqual({ a: "1,2", b: "x=y" });
    }
  });

  it.each([
    ["true", true],
    ["TRUE", true],
    ["1", true],
    ["false", false],
    ["0", false],
  ])("read %s as %s", async (text, value) => {
    expect((await place.load(undefined, { OPENHOOK_OTEL_DISABLED: text })).config.disabled).toBe(value);
  });

  it("unknown ones get a warning with the nearest name; those for other parts do not", async () => {
    const { warnings } = await place.load(undefined, {
      OPENHOOK_OTEL_OTLP_ENDPIONT: "http://a.example",
      OPENHOOK_OTEL_HOME: "/tmp/x",
      OPENHOOK_OTEL_DRAIN: "0",
      OPENHOOK_OTEL_WRAP: "off",
      OPENHOOK_OTEL_WRAPPED: "make <1 1:/usr/bin/make",
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("Did you mean OPENHOOK_OTEL_OTLP_ENDPOINT?");
  });

  it("with our prefix that our hooks, wrappers and plugins set are known", async () => {
    const names = readdirSync("src", { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:ts|sh|js)$/.test(name))
      .flatMap((name) => readFileSync(join("src", name), "utf8").match(/\bOPENHOOK_OTEL_[A-Z_]+\b/g) ?? []);
    expect(names).toContain("OPENHOOK_OTEL_PI_PARENT");
    const { warnings } = await place.load(undefined, Object.fromEntries(names.map((name) => [name, "set"])));
    expect(warnings.filter((warning) => warning.includes("is not a setting"))).toEqual([]);
  });
});

describe("any input", () => {
  it("loading never throws and returns a configuration that the schema accepts", async () => {
    const key = fc.constantFrom(...new Set(SETTINGS.flatMap(({ path }) => path)), "__proto__", "constructor", "x");
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), fc.dictionary(key, tie("tree"), { maxKeys: 6 })),
    }));
    const names = SETTINGS.flatMap(({ variable }) => [variable, variable.replace("OPENHOOK_OTEL_", "OTEL_EXPORTER_")]);
    const value = fc.oneof(fc.string(), fc.webUrl(), fc.constantFrom("grpc", "none", "true", "%", "a=b", "{"));
    const env = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 8 });
    const file = fc.oneof(
      { weight: 5, arbitrary: tree.map((t) => JSON.stringify(t)) },
      { weight: 1, arbitrary: fc.string() },
    );
    await fc.assert(
      fc.asyncProperty(file, env, async (text, variables) => {
        const { config, errors, warnings } = await place.load(text, variables);
        expect(Config.parse(config)).toEqual(config);
        for (const line of [...errors, ...warnings]) expect(line).not.toBe("");
        for (const url of sends(config)) if (url !== undefined) expect(new URL(url).protocol).toMatch(/^https?:$/);
      }),
      { numRuns: runs(400) },
    );
  });
});
