import { afterAll, describe, expect, it } from "vitest";
import { otlpSettings } from "#config/otlp.ts";
import { makePlace } from "./help.ts";

const place = makePlace();
afterAll(place.remove);

const identity = { version: "0.1.0", instanceId: "i-1", os: "linux", arch: "x64" } as const;

async function settings(env: Record<string, string>, file?: unknown) {
  const loaded = await place.load(file, env);
  return { ...loaded, otlp: otlpSettings(loaded.config, identity) };
}

const BASE = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

describe("endpoints", () => {
  it("nothing is exported without one", async () => {
    const { otlp, warnings, errors } = await settings({});
    expect(otlp.traces).toBeUndefined();
    expect(otlp.metrics).toBeUndefined();
    expect([...warnings, ...errors]).toEqual([]);
  });

  it.each([
    ["http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"],
    ["http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"],
    ["https://otel.example/otlp", "https://otel.example/otlp/v1/traces"],
    ["https://otel.example/otlp//", "https://otel.example/otlp/v1/traces"],
    ["https://otel.example/otlp?key=1", "https://otel.example/otlp/v1/traces?key=1"],
    [" http://127.0.0.1:4318 ", "http://127.0.0.1:4318/v1/traces"],
  ])("the base address %s gets the signal's path", async (endpoint, url) => {
    const { otlp, errors } = await settings({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    expect(errors).toEqual([]);
    expect(otlp.traces?.url).toBe(url);
    expect(otlp.metrics?.url).toBe(url.replace("traces", "metrics"));
  });

  it("a signal's own address is used unchanged", async () => {
    const { otlp } = await settings({
      ...BASE,
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://t.example/in/",
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://m.example/api/v1/otlp/v1/metrics",
    });
    expect(otlp.traces?.url).toBe("http://t.example/in/");
    expect(otlp.metrics?.url).toBe("http://m.example/api/v1/otlp/v1/metrics");
  });

  it("one signal's address exports only that signal", async () => {
    const { otlp } = await settings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://t.example/in" });
    expect(otlp.traces?.url).toBe("http://t.example/in");
    expect(otlp.metrics).toBeUndefined();
  });

  it("warns about a base address that already has the signal's path", async () => {
    const { warnings } = await settings({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318/v1/traces" });
    expect(warnings.join()).toMatch(/ends in \/v1\//);
  });

  it("an empty variable counts as unset", async () => {
    const { otlp, warnings } = await settings({ OTEL_EXPORTER_OTLP_ENDPOINT: "", OTEL_EXPORTER_OTLP_HEADERS: " " });
    expect(otlp.traces).toBeUndefined();
    expect(warnings).toEqual([]);
  });
});

describe("headers", () => {
  it("are percent-decoded, in lower case, and merged with the signal's", async () => {
    const { otlp, errors } = await settings({
      ...BASE,
      OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Basic%20YTpi==, x-scope-orgid = team%2Ca ,",
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "X-Scope-OrgID=t,x-only=1",
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: "x-m=2",
    });
    expect(errors).toEqual([]);
    expect(otlp.traces?.headers).toEqual({ authorization: "Basic YTpi==", "x-scope-orgid": "t", "x-only": "1" });
    expect(otlp.metrics?.headers).toEqual({ authorization: "Basic YTpi==", "x-scope-orgid": "team,a", "x-m": "2" });
  });

  it.each(["x-a=1,Bearer s3cret", "x-a=1,y=%zz s3cret", "x-a=1,authorization: Bearer s3cret=", "x-a=1,b=s3cret%0Ax"])(
    "an invalid pair is left out with a warning that does not quote it: %s",
    async (list) => {
      const { otlp, warnings, errors } = await settings({ ...BASE, OTEL_EXPORTER_OTLP_HEADERS: list });
      expect(otlp.traces?.headers).toEqual({ "x-a": "1" });
      expect(errors).toEqual([]);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain("OTEL_EXPORTER_OTLP_HEADERS");
      expect(warnings[0]).not.toContain("s3cret");
    },
  );
});

describe("everything else of the exporter", () => {
  it.each([
    ["COMPRESSION", "none", "compression", "none"],
    ["COMPRESSION", "GZIP", "compression", "gzip"],
    ["TIMEOUT", "250", "timeoutMs", 250],
    ["PROTOCOL", "http/json", "protocol", "http/json"],
    ["PROTOCOL", "http/protobuf", "protocol", "http/protobuf"],
    ["CERTIFICATE", "/etc/ca.pem", "certificatePath", "/etc/ca.pem"],
    ["CLIENT_CERTIFICATE", "/etc/c.pem", "clientCertificatePath", "/etc/c.pem"],
    ["CLIENT_KEY", "/etc/k.pem", "clientKeyPath", "/etc/k.pem"],
  ] as const)("%s=%s, for both signals and for one", async (suffix, text, name, value) => {
    const general = await settings({ ...BASE, [`OTEL_EXPORTER_OTLP_${suffix}`]: text });
    expect(general.otlp.traces?.[name]).toBe(value);
    expect(general.otlp.metrics?.[name]).toBe(value);
    for (const signal of ["traces", "metrics"] as const) {
      const other = signal === "traces" ? "metrics" : "traces";
      const one = await settings({ ...BASE, [`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${suffix}`]: text });
      expect(one.otlp[signal]?.[name]).toBe(value);
      expect(one.otlp[other]?.[name]).toBe((await settings(BASE)).otlp[other]?.[name]);
    }
  });

  it.each(["0", "-1", "1.5", "10s", "1e3"])("a timeout of %s is ignored with a warning", async (text) => {
    const { otlp, warnings, errors } = await settings({ ...BASE, OTEL_EXPORTER_OTLP_TIMEOUT: text });
    expect(otlp.traces?.timeoutMs).toBe(10_000);
    expect(errors).toEqual([]);
    expect(warnings.join()).toContain("a whole number from 1 to 600000 (ms)");
  });

  it.each([
    ["cumulative", "cumulative"],
    ["Delta", "delta"],
    ["LOWMEMORY", "delta"],
  ])("temporality %s is %s", async (text, value) => {
    const { otlp } = await settings({ ...BASE, OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: text });
    expect(otlp.metrics?.temporality).toBe(value);
  });

  it("OTEL_TRACES_EXPORTER=none and OTEL_METRICS_EXPORTER=none switch one signal off", async () => {
    const traces = await settings({ ...BASE, OTEL_TRACES_EXPORTER: "none" });
    expect([traces.otlp.traces, traces.otlp.metrics?.url]).toEqual([undefined, "http://127.0.0.1:4318/v1/metrics"]);
    const metrics = await settings({ ...BASE, OTEL_METRICS_EXPORTER: " None " });
    expect([metrics.otlp.traces?.url, metrics.otlp.metrics]).toEqual(["http://127.0.0.1:4318/v1/traces", undefined]);
    const otlp = await settings({ ...BASE, OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp" });
    expect(otlp.otlp.traces && otlp.otlp.metrics).toBeDefined();
  });

  it("OTEL_SDK_DISABLED: only true switches export off", async () => {
    for (const [text, off] of [
      ["true", true],
      ["TRUE", true],
      ["false", false],
      ["1", false],
      ["", false],
    ] as const) {
      const { otlp, warnings } = await settings({ ...BASE, OTEL_SDK_DISABLED: text });
      expect(otlp.traces === undefined).toBe(off);
      expect(warnings.length).toBe(text === "1" ? 1 : 0);
    }
  });

  it("OTEL_SEMCONV_STABILITY_OPT_IN is a list", async () => {
    const optIn = async (text: string) => (await settings({ OTEL_SEMCONV_STABILITY_OPT_IN: text })).config.semconv;
    expect(await optIn("http, gen_ai_latest_experimental")).toBe("latest");
    expect(await optIn("http/dup")).toBe("both");
  });
});

describe("resource", () => {
  it("has our attributes, then the user's, and no default service name", async () => {
    const { otlp } = await settings({
      OTEL_RESOURCE_ATTRIBUTES: "team=a%20b,os.type=plan9,deployment.environment.name=ci",
    });
    expect(otlp.resource).toEqual({
      "service.namespace": "coding-agents",
      "service.instance.id": "i-1",
      "telemetry.distro.name": "openhook-otel",
      "telemetry.distro.version": "0.1.0",
      "os.type": "plan9",
      "host.arch": "amd64",
      team: "a b",
      "deployment.environment.name": "ci",
    });
  });

  it("OTEL_SERVICE_NAME beats service.name among the attributes, which beats the file", async () => {
    const file = { resource: { serviceName: "from-file" } };
    const attributes = { OTEL_RESOURCE_ATTRIBUTES: "service.name=from-attributes" };
    const name = async (env: Record<string, string>) => (await settings(env, file)).otlp.resource["service.name"];
    expect(await name({})).toBe("from-file");
    expect(await name(attributes)).toBe("from-attributes");
    expect(await name({ ...attributes, OTEL_SERVICE_NAME: "from-name" })).toBe("from-name");
    expect(await name({ ...attributes, OPENHOOK_OTEL_RESOURCE_SERVICE_NAME: "ours" })).toBe("ours");
  });

  it("one unreadable pair makes the list invalid, with a warning", async () => {
    const { otlp, warnings } = await settings({ OTEL_RESOURCE_ATTRIBUTES: "team=a,broken" });
    expect(otlp.resource["team"]).toBeUndefined();
    expect(warnings.join()).toContain("OTEL_RESOURCE_ATTRIBUTES");
  });

  it.each([
    ["linux", "x64", "linux", "amd64"],
    ["darwin", "arm64", "darwin", "arm64"],
    ["win32", "ia32", "windows", "x86"],
    ["linux", "arm", "linux", "arm32"],
    ["linux", "riscv64", "linux", "riscv64"],
  ] as const)("%s/%s is %s/%s", async (os, arch, osType, hostArch) => {
    const { config } = await place.load(undefined);
    const { resource } = otlpSettings(config, { ...identity, os, arch });
    expect([resource["os.type"], resource["host.arch"]]).toEqual([osType, hostArch]);
  });
});

describe("variables that are meant for the agent", () => {
  const GRPC = { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };

  it("gRPC without an address of ours: their address and their protocol, without a path", async () => {
    const { otlp, warnings, errors } = await settings({
      ...GRPC,
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://a.example:4317",
    });
    expect([warnings, errors]).toEqual([[], []]);
    expect(otlp.traces).toMatchObject({ url: "http://a.example:4317/", protocol: "grpc" });
    expect(otlp.metrics).toMatchObject({ url: "http://a.example:4317/", protocol: "grpc" });
  });

  it.each([
    ["a.example:4317", {}, "https://a.example:4317/"],
    ["[::1]:4317", { OTEL_EXPORTER_OTLP_INSECURE: "true" }, "http://[::1]:4317/"],
    ["a.example:4317", { OTEL_EXPORTER_OTLP_INSECURE: "TRUE" }, "http://a.example:4317/"],
    ["a.example:4317", { OTEL_EXPORTER_OTLP_INSECURE: "false" }, "https://a.example:4317/"],
  ])("gRPC to %s with %j: the scheme is added", async (endpoint, insecure, url) => {
    const { otlp, errors } = await settings({ ...GRPC, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, ...insecure });
    expect([otlp.traces?.url, otlp.metrics?.url, errors]).toEqual([url, url, []]);
  });

  it("an unknown protocol: no export, one warning with a remedy", async () => {
    const { otlp, warnings, errors } = await settings({
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/thrift",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://a.example:4317",
    });
    expect([otlp.traces, otlp.metrics, errors]).toEqual([undefined, undefined, []]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /OTEL_EXPORTER_OTLP_PROTOCOL .* traces and metrics are not exported.*config set otlp.endpoint/,
    );
  });

  it("gRPC replaces our own address if it is for gRPC too, as other variables do", async () => {
    const env = { ...GRPC, OTEL_EXPORTER_OTLP_ENDPOINT: "http://a.example:4317" };
    const { otlp } = await settings(env, { otlp: { protocol: "grpc", endpoint: "http://ours.example:4317" } });
    expect(otlp.traces).toMatchObject({ url: "http://a.example:4317/", protocol: "grpc" });
  });

  it("gRPC for both signals is ignored only for the signal that has our own address", async () => {
    const env = { ...GRPC, OTEL_EXPORTER_OTLP_ENDPOINT: "http://a.example:4317" };
    const { otlp } = await settings(env, { otlp: { traces: { endpoint: "http://ours.example:4318/v1/traces" } } });
    expect(otlp.traces).toMatchObject({ url: "http://ours.example:4318/v1/traces", protocol: "http/protobuf" });
    expect(otlp.metrics).toMatchObject({ url: "http://a.example:4317/", protocol: "grpc" });
  });

  it.each(["http://a.example:4317", "a.example:4317"])(
    "gRPC to %s never replaces our own address",
    async (endpoint) => {
      const env = {
        ...GRPC,
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=agents",
      };
      const { otlp, warnings, errors } = await settings(env, { otlp: { endpoint: "http://ours.example:4318" } });
      expect(errors).toEqual([]);
      expect(otlp.traces).toMatchObject({
        url: "http://ours.example:4318/v1/traces",
        protocol: "http/protobuf",
        headers: {},
      });
      expect(otlp.metrics?.url).toBe("http://ours.example:4318/v1/metrics");
      expect(warnings.join("\n")).toMatch(/OTEL_EXPORTER_OTLP_PROTOCOL .* is ignored/);
    },
  );

  it("gRPC with our protocol setting and no address: their address with their protocol", async () => {
    const env = { ...GRPC, OTEL_EXPORTER_OTLP_ENDPOINT: "http://a.example:4317" };
    const { otlp } = await settings(env, { otlp: { protocol: "http/json" } });
    expect(otlp.traces).toMatchObject({ url: "http://a.example:4317/", protocol: "grpc" });
  });

  it("gRPC for one signal does not affect the other, and the port is a remark", async () => {
    const { otlp, warnings } = await settings({ ...BASE, OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "grpc" });
    expect(otlp.traces).toMatchObject({ url: "http://127.0.0.1:4318/v1/traces", protocol: "http/protobuf" });
    expect(otlp.metrics).toMatchObject({ url: "http://127.0.0.1:4318/", protocol: "grpc" });
    expect(warnings.join()).toMatch(/port 4318, which is usually for HTTP; export uses gRPC/);
  });

  it("gRPC without any address gives no warning", async () => {
    expect((await settings(GRPC)).warnings).toEqual([]);
  });

  it("our general variable overrides theirs for one signal", async () => {
    const { otlp } = await settings({
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://agents.example/v1/metrics",
      OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: "5",
      OPENHOOK_OTEL_OTLP_ENDPOINT: "http://ours.example",
      OPENHOOK_OTEL_OTLP_TIMEOUT_MS: "70",
    });
    expect(otlp.metrics).toMatchObject({ url: "http://ours.example/v1/metrics", timeoutMs: 70 });
  });

  it("an address without a scheme is ignored", async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" };
    const without = await settings(env);
    expect([without.otlp.traces, without.errors]).toEqual([undefined, []]);
    expect(without.warnings.join()).toContain("must begin with http:// or https://");
    const withOurs = await settings(env, { otlp: { endpoint: "http://ours.example" } });
    expect(withOurs.otlp.traces?.url).toBe("http://ours.example/v1/traces");
  });

  it("an invalid address of one signal stops it; the general one is not used", async () => {
    const { otlp, errors } = await settings({ ...BASE, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "traces.example" });
    expect(otlp.traces).toBeUndefined();
    expect(otlp.metrics?.url).toBe("http://127.0.0.1:4318/v1/metrics");
    expect(errors.join()).toContain("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  });

  it("warns when their address overrides the file's", async () => {
    const { otlp, warnings } = await settings(BASE, { otlp: { endpoint: "http://ours.example" } });
    expect(otlp.traces?.url).toBe("http://127.0.0.1:4318/v1/traces");
    expect(warnings.join()).toMatch(
      /OTEL_EXPORTER_OTLP_ENDPOINT overrides otlp.endpoint .*OPENHOOK_OTEL_OTLP_ENDPOINT/,
    );
  });
});

describe("headers belong to the address beside them", () => {
  const file = { otlp: { endpoint: "https://ours.example:4318/a", headers: { authorization: "Bearer ours" } } };

  it("the file's token is not sent to another address", async () => {
    const { otlp, warnings, sources } = await settings(BASE, file);
    expect(otlp.traces).toMatchObject({ url: "http://127.0.0.1:4318/v1/traces", headers: {} });
    expect(warnings.join("\n")).toContain(
      "its headers are for https://ours.example:4318 and are not sent to http://127.0.0.1:4318",
    );
    expect(warnings.join("\n")).not.toContain("Bearer ours");
    expect(sources.has("otlp.headers.authorization")).toBe(false);
  });

  it("the file's token is not sent over http if its address has https, on the same host", async () => {
    const { otlp } = await settings({ OPENHOOK_OTEL_OTLP_ENDPOINT: "http://ours.example:4318/a" }, file);
    expect(otlp.traces?.headers).toEqual({});
  });

  it("the file's token is sent to another path of the same origin; headers without an address are sent anywhere", async () => {
    const samePlace = await settings({ OPENHOOK_OTEL_OTLP_ENDPOINT: "https://ours.example:4318/b" }, file);
    expect(samePlace.otlp.traces?.headers).toEqual({ authorization: "Bearer ours" });
    const alone = await settings(BASE, { otlp: { headers: { authorization: "Bearer ours" } } });
    expect(alone.otlp.traces?.headers).toEqual({ authorization: "Bearer ours" });
  });

  it("the agent's token is not sent to our address", async () => {
    const { otlp } = await settings({
      ...BASE,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=agents",
      OPENHOOK_OTEL_OTLP_ENDPOINT: "http://ours.example",
    });
    expect(otlp.traces?.headers).toEqual({});
  });

  it("the headers of each signal are decided separately", async () => {
    const { otlp } = await settings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://t.example/in" }, file);
    expect(otlp.traces).toMatchObject({ url: "http://t.example/in", headers: {} });
    expect(otlp.metrics).toMatchObject({
      url: "https://ours.example:4318/a/v1/metrics",
      headers: { authorization: "Bearer ours" },
    });
  });
});
