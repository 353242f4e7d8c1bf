import { afterAll, describe, expect, it } from "vitest";
import { whyUnsent } from "#config/config-state.ts";
import { otlpSettings } from "#config/otlp.ts";
import { SETTINGS } from "#config/settings.ts";
import { makePlace } from "./help.ts";

const place = makePlace();
afterAll(place.remove);

const OURS = "https://ours.example:4318";
const load = async (file: unknown, env: Record<string, string> = {}) => {
  const loaded = await place.load(file, env);
  const { traces, metrics } = otlpSettings(loaded.config, { version: "0", instanceId: "", os: "linux", arch: "x64" });
  return { ...loaded, traces, metrics };
};

describe("commands and files that provide headers", () => {
  it("are for both signals, or for one", async () => {
    const { traces, metrics, errors } = await load({
      otlp: { endpoint: OURS, headersCommand: "all", headersFile: "/f", traces: { headersCommand: "own" } },
    });
    expect(errors).toEqual([]);
    expect(traces).toMatchObject({ headersCommand: "own", headersFile: "/f" });
    expect(metrics).toMatchObject({ headersCommand: "all", headersFile: "/f" });
  });

  it.each(["headersCommand", "headersFile"])("%s is not used for an address of another place", async (name) => {
    const file = { otlp: { endpoint: OURS, [name]: "/x" } };
    for (const variable of ["OPENHOOK_OTEL_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"]) {
      const { traces, metrics, warnings } = await load(file, { [variable]: "https://evil.example" });
      expect([traces?.url, metrics?.url].join()).toContain("evil.example");
      expect([traces, metrics].flatMap((of) => [of?.headersCommand, of?.headersFile])).toEqual(
        Array(4).fill(undefined),
      );
      expect(warnings.join()).toContain(`its headers are for ${OURS} and are not sent to https://evil.example`);
    }
    const one = await load(file, { OPENHOOK_OTEL_OTLP_TRACES_ENDPOINT: "https://evil.example/x" });
    expect(one.traces).not.toHaveProperty(name);
    expect(one.metrics).toHaveProperty(name, "/x");
  });

  it("a relative path could lead into a repository, so it is refused", async () => {
    const { traces, errors } = await load({ otlp: { endpoint: OURS, headersFile: "tokens.json" } });
    expect(errors.join()).toContain('otlp.headersFile must be an absolute path, not "tokens.json"');
    expect(traces).toBeUndefined();
  });

  it("and other settings of files are never read from a variable, and say so", async () => {
    const only = SETTINGS.filter(({ filesOnly }) => filesOnly);
    expect(only.map(({ key }) => key)).toEqual([
      "otlp.headersCommand",
      "otlp.headersFile",
      "otlp.traces.headersCommand",
      "otlp.traces.headersFile",
      "otlp.metrics.headersCommand",
      "otlp.metrics.headersFile",
      "otlp.logs.headersCommand",
      "otlp.logs.headersFile",
      "view.hosts",
      "prices.providers",
      "prices.plans",
      "budget.month",
      "budget.repositories",
      "native.forward",
    ]);
    const env = Object.fromEntries(only.map(({ variable }) => [variable, "evil.example"]));
    const { config, warnings, traces } = await load({ otlp: { endpoint: OURS } }, env);
    expect(traces).not.toHaveProperty("headersCommand");
    expect(traces).not.toHaveProperty("headersFile");
    expect(config.view.hosts).toBeUndefined();
    for (const { key, variable } of only) {
      expect(warnings.join("\n")).toContain(`${variable} is ignored: a repository can set variables. `);
      expect(warnings.join("\n")).toContain(`openhook-otel config set ${key} VALUE`);
    }
  });
});

describe("an address that cannot be used", () => {
  it.each([
    ["localhost:4318", /must begin with http:\/\/ or https:\/\/, not "localhost:4318": write http:\/\/localhost:4318;/],
    ["[::1]:4318/x", /, not "\[::1\]:4318\/x": write http:\/\/\[::1\]:4318\/x;/],
    ["collector:4318", /: write http:\/\/collector:4318, or https:\/\/collector:4318 if it uses TLS;/],
    ["10.0.0.5:4317", /: write http:\/\/10\.0\.0\.5:4317, or https:\/\/10\.0\.0\.5:4317 if it uses TLS;/],
    ["collector", /: write http:\/\/collector, or https:\/\/collector if it uses TLS;/],
    ["collector.example", /: write https:\/\/collector\.example;/],
    ["collector.example:443", /: write https:\/\/collector\.example:443;/],
    ['"http://localhost:4318"', /: remove the quotes or spaces around the address;/],
    ["' localhost:4318 '", /must begin with http/],
    [
      "unix:///run/otel.sock",
      /, not "unix:\/\/\/run\/otel\.sock": Unix sockets are not supported, so let the receiver listen on 127\.0\.0\.1 too;/,
    ],
    ["http+unix:///run/otel.sock", /: Unix sockets are not supported/],
    ["http+unix://%2Frun%2Fotel.sock/v1/traces", /: Unix sockets are not supported/],
    ["unix:/run/otel.sock", /: Unix sockets are not supported/],
    ["/run/otel.sock", /: Unix sockets are not supported/],
    ["ftp://x.example", /must begin with http:\/\/ or https:\/\/, not "ftp:/],
  ])("%s: says where it came from, and how to write it", async (endpoint, text) => {
    const inFile = await load({ otlp: { endpoint } });
    expect(inFile.errors.join()).toMatch(text);
    expect(inFile.errors.join()).toContain(place.configPath);
    const own = await load({}, { OPENHOOK_OTEL_OTLP_ENDPOINT: endpoint });
    expect(own.errors.join()).toMatch(text);
    const foreign = await load({}, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    expect(foreign.warnings.join()).toMatch(text);
    expect(foreign.warnings.join()).toContain("environment variable OTEL_EXPORTER_OTLP_ENDPOINT");
    for (const loaded of [inFile, own, foreign]) {
      expect([loaded.traces, loaded.metrics]).toEqual([undefined, undefined]);
      expect(loaded.ignoredEndpoint).toMatch(text);
    }
    expect(whyUnsent("traces", foreign)).toBe(`not sent: ${foreign.ignoredEndpoint}`);
  });
});
