import { afterAll, describe, expect, it } from "vitest";
import type { Setting } from "#config/setting.ts";
import { SETTINGS } from "#config/settings.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";
import { at, makePlace, nest, put } from "./help.ts";

const place = makePlace();
afterAll(place.remove);

const NAMES = ["file", "otel", "own", "flag"] as const;
type Name = (typeof NAMES)[number];

/** OpenTelemetry's variable for a setting and how a value is written there; `undefined` where there is none. */
function otelVariable({ key }: Setting, value: unknown): [string, string] | undefined {
  const exporter =
    /^otlp\.(?:(traces|metrics)\.)?(endpoint|protocol|compression|timeoutMs|certificate|clientCertificate|clientKey)$/;
  const [, signal, name] = exporter.exec(key) ?? [];
  if (name !== undefined) {
    const suffix = name === "timeoutMs" ? "TIMEOUT" : name.replace(/[A-Z]/g, "_$&").toUpperCase();
    return [`OTEL_EXPORTER_OTLP_${signal === undefined ? "" : `${signal.toUpperCase()}_`}${suffix}`, String(value)];
  }
  if (key === "otlp.metrics.temporality") return ["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", String(value)];
  if (key === "resource.serviceName") return ["OTEL_SERVICE_NAME", String(value)];
  if (key === "otlp.traces.enabled" && value === false) return ["OTEL_TRACES_EXPORTER", "none"];
  if (key === "otlp.metrics.enabled" && value === false) return ["OTEL_METRICS_EXPORTER", "none"];
  if (key === "disabled" && value === true) return ["OTEL_SDK_DISABLED", "true"];
  if (key === "semconv" && value === "latest") return ["OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental"];
  return undefined;
}

function valueFor(setting: Setting): fc.Arbitrary<string | number | boolean> {
  if (setting.kind === "choice") return fc.constantFrom(...setting.choices);
  if (setting.kind === "boolean") return fc.boolean();
  if (setting.kind === "number") {
    const [min, max] = (setting.allowed.match(/\d+/g) ?? []).map(Number);
    return fc.integer({ min: min ?? 1, max: max ?? 10_000_000 });
  }
  if (setting.path.at(-1) === "traceLink") return fc.domain().map((host) => `https://${host}/trace/{trace_id}`);
  if (["endpoint", "proxy"].includes(setting.path.at(-1) ?? "") || setting.path[0] === "reconcile") {
    return fc.tuple(fc.domain(), fc.integer({ min: 1, max: 65535 })).map(([host, port]) => `http://${host}:${port}/x`);
  }
  if (setting.key === "transcripts.folders") return fc.stringMatching(/^\/[a-z][a-z0-9./-]{0,9}(:\/[a-z]{1,5})?$/);
  if (setting.key === "view.hosts") return fc.domain();
  if (setting.path.at(-1) === "headersFile") return fc.stringMatching(/^\/[a-z][a-z0-9./-]{0,20}$/);
  return fc.stringMatching(setting.key === "identity.salt" ? /^[a-z]{16,30}$/ : /^[a-z/][a-z0-9./-]{0,20}$/);
}

describe("flag > our variable > OpenTelemetry's variable > file > default", () => {
  const plain = SETTINGS.filter(({ kind }) => kind !== "map");

  it.each(plain.map((setting) => [setting.key, setting] as const))("%s", async (key, setting) => {
    const layers = fc.record<Record<Name, string | number | boolean>, never>(
      { file: valueFor(setting), otel: valueFor(setting), own: valueFor(setting), flag: valueFor(setting) },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(layers, async (given) => {
        const otel = given.otel === undefined ? undefined : otelVariable(setting, given.otel);
        const env = {
          ...(otel !== undefined && { [otel[0]]: otel[1] }),
          ...(given.own !== undefined && { [setting.variable]: String(given.own) }),
        };
        const file = given.file === undefined ? undefined : nest(setting.path, given.file);
        const loaded = await place.load(file, env, given.flag === undefined ? {} : { [key]: given.flag });

        expect(loaded.errors).toEqual([]);
        const winner = NAMES.findLast(
          (name) =>
            given[name] !== undefined &&
            (name !== "otel" || otel !== undefined) &&
            (name !== "own" || !setting.filesOnly),
        );
        expect(at(loaded.config, setting.path)).toBe(winner === undefined ? setting.default : given[winner]);
        expect(loaded.sources.get(key)).toEqual(
          {
            file: { kind: "file", path: place.configPath },
            otel: { kind: "environment", variable: otel?.[0] },
            own: { kind: "environment", variable: setting.variable },
            flag: { kind: "flag" },
            none: { kind: "default" },
          }[winner ?? "none"],
        );
      }),
      { numRuns: runs(25) },
    );
  });

  it("maps are merged entry by entry", async () => {
    const names = ["a.b", "team", "x-y"] as const;
    const map = fc.dictionary(fc.constantFrom(...names), fc.stringMatching(/^[a-z0-9 ,=%]{1,8}$/), { maxKeys: 3 });
    const encode = (entries: Record<string, string>) =>
      Object.entries(entries)
        .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
        .join(",");
    await fc.assert(
      fc.asyncProperty(map, map, map, map, async (file, otel, own, flag) => {
        for (const [key, otelName, ownName] of [
          ["resource.attributes", "OTEL_RESOURCE_ATTRIBUTES", "OPENHOOK_OTEL_RESOURCE_ATTRIBUTES"],
          ["otlp.headers", "OTEL_EXPORTER_OTLP_HEADERS", "OPENHOOK_OTEL_OTLP_HEADERS"],
          ["otlp.traces.headers", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OPENHOOK_OTEL_OTLP_TRACES_HEADERS"],
          ["otlp.metrics.headers", "OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OPENHOOK_OTEL_OTLP_METRICS_HEADERS"],
        ] as const) {
          const env = { [otelName]: encode(otel), [ownName]: JSON.stringify(own) };
          const loaded = await place.load(nest(key.split("."), file), env, { [key]: flag });
          expect(loaded.errors).toEqual([]);
          expect(at(loaded.config, key.split("."))).toEqual({ ...file, ...otel, ...own, ...flag });
        }
      }),
      { numRuns: runs(40) },
    );
  });

  it("is the order for any combination of settings", async () => {
    // Commands and files that provide headers do not go to every address: see header-providers.test.ts
    const free = plain.filter(({ key }) => !/\.headers(?:Command|File)$/.test(key));
    const some = fc.record(Object.fromEntries(free.map((setting) => [setting.key, valueFor(setting)])), {
      requiredKeys: [],
    });
    await fc.assert(
      fc.asyncProperty(some, some, some, async (file, own, flag) => {
        const tree: Record<string, unknown> = {};
        for (const setting of plain) {
          if (file[setting.key] === undefined) continue;
          put(tree, setting.path, file[setting.key]);
        }
        const env: Record<string, string> = {};
        for (const { key, variable } of plain) if (own[key] !== undefined) env[variable] = String(own[key]);
        const loaded = await place.load(tree, env, flag);
        expect(loaded.errors).toEqual([]);
        for (const { key, path, default: fallback, filesOnly } of plain) {
          expect([key, at(loaded.config, path)]).toEqual([
            key,
            flag[key] ?? (filesOnly ? undefined : own[key]) ?? file[key] ?? fallback,
          ]);
        }
      }),
      { numRuns: runs(60) },
    );
  });
});
