import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type Flags, loadConfig } from "#config/load.ts";
import { isLocked } from "#config/locks.ts";
import { otlpSettings } from "#config/otlp.ts";
import { makePlace } from "./help.ts";

const place = makePlace();
afterAll(place.remove);

const folder = join(place.directory, "etc");
const machineConfigPath = join(folder, "config.json");
const uid = process.getuid?.() ?? 0;
const TRUSTED = [0, uid];

beforeEach(() => {
  mkdirSync(folder, { recursive: true });
  for (const path of [place.directory, folder]) chmodSync(path, 0o755);
});

async function load(
  machine: unknown,
  {
    file,
    env = {},
    flags = {},
    trustedUids = TRUSTED,
    mode = 0o644,
  }: {
    readonly file?: unknown;
    readonly env?: Record<string, string>;
    readonly flags?: Flags;
    readonly trustedUids?: readonly number[];
    readonly mode?: number;
  } = {},
) {
  writeFileSync(place.configPath, JSON.stringify(file ?? {}));
  writeFileSync(machineConfigPath, typeof machine === "string" ? machine : JSON.stringify(machine));
  chmodSync(machineConfigPath, mode);
  const loaded = await loadConfig(
    { env, places: { configPath: place.configPath, machineConfigPath }, trustedUids },
    flags,
  );
  const identity = { version: "1", instanceId: "i", os: "linux", arch: "x64" } as const;
  return { ...loaded, otlp: otlpSettings(loaded.config, identity) };
}

const OTLP = { endpoint: "https://team.example:4318", headers: { authorization: "Bearer team" } };

describe("where the agents' own telemetry is handed on", () => {
  const endpoint = "https://team.example:4318";
  const forward = { "agent-a": { endpoint, headers: { authorization: "Bearer team" } } };

  it("comes whole from one place, so that headers never go to another address", async () => {
    const { config } = await load(
      { native: { forward } },
      { file: { native: { forward: { "agent-a": { endpoint: "http://127.0.0.1:9" }, "agent-b": { endpoint } } } } },
    );
    expect(config.native.forward).toEqual({ "agent-a": { endpoint: "http://127.0.0.1:9" }, "agent-b": { endpoint } });
  });

  it("is the administrator's if locked", async () => {
    const file = { native: { forward: { "agent-a": { endpoint: "http://127.0.0.1:9" }, "agent-b": { endpoint } } } };
    const { config, warnings } = await load({ native: { forward }, locked: ["native.forward"] }, { file });
    expect(config.native.forward).toEqual(forward);
    expect(warnings.filter((text) => text.includes("is locked by"))).toHaveLength(2);
  });

  it("never shows a header in an error", async () => {
    const broken = { "agent-a": { endpoint, headers: { authorization: "Bearer canary\n" } } };
    const { config, errors } = await load({}, { file: { native: { forward: broken } } });
    expect([config.native.forward, errors.length]).toEqual([{}, 1]);
    expect(errors.join()).not.toContain("canary");
  });
});

describe("defaults of the machine", () => {
  it("apply below everything else", async () => {
    const machine = { capture: "none", otlp: OTLP, store: { retentionDays: 7 } };
    const alone = await load(machine);
    expect([alone.config.capture, alone.config.store.retentionDays, alone.errors]).toEqual(["none", 7, []]);
    expect(alone.sources.get("capture")).toEqual({ kind: "machine", path: machineConfigPath });
    expect(alone.otlp.traces).toMatchObject({
      url: "https://team.example:4318/v1/traces",
      headers: { authorization: "Bearer team" },
    });
    const file = { capture: "metadata", otlp: { endpoint: "http://own.example" } };
    const own = await load(machine, { file, env: { OPENHOOK_OTEL_STORE_RETENTION_DAYS: "30" } });
    expect([own.config.capture, own.config.store.retentionDays]).toEqual(["metadata", 30]);
    // The team's token is for the team's backend
    expect(own.otlp.traces).toMatchObject({ url: "http://own.example/v1/traces", headers: {} });
    const agents = await load(machine, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: "http://agents.example" } });
    expect(agents.otlp.traces?.url).toBe("http://agents.example/v1/traces");
  });

  it("may have comments; unknown names are a warning, and locked is no setting of users", async () => {
    const { config, warnings } = await load('{ // ours\n "capture": "none", "zebra": 1, "locked": [], }', {
      file: { locked: ["capture"] },
    });
    expect(config.capture).toBe("none");
    expect(warnings).toEqual([
      expect.stringMatching(/unknown setting "locked"/),
      expect.stringMatching(/etc[\\/]config.json:2: unknown setting "zebra"/),
    ]);
  });
});

describe("locks", () => {
  it("leave the machine's value, whatever the user, variables or options say", async () => {
    const loaded = await load(
      { capture: "metadata", locked: ["capture"] },
      { file: { capture: "full" }, env: { OPENHOOK_OTEL_CAPTURE: "full" }, flags: { capture: "full" } },
    );
    expect(loaded.config.capture).toBe("metadata");
    expect(loaded.locked).toEqual(["capture"]);
    expect(loaded.warnings).toEqual([
      `flag: capture is locked by ${machineConfigPath}; it is ignored`,
      `environment OPENHOOK_OTEL_CAPTURE: capture is locked by ${machineConfigPath}; it is ignored`,
      `file ${place.configPath}: capture is locked by ${machineConfigPath}; it is ignored`,
    ]);
  });

  it("a group locks all its settings, also those that only have a default", async () => {
    const loaded = await load(
      { otlp: OTLP, locked: ["otlp"] },
      {
        file: { otlp: { traces: { endpoint: "http://own.example/v1/traces" }, headers: { "x-own": "1" } } },
        env: {
          OTEL_EXPORTER_OTLP_ENDPOINT: "agents.example:4317",
          OTEL_EXPORTER_OTLP_PROTOCOL: "http/thrift",
          OTEL_TRACES_EXPORTER: "none",
          OPENHOOK_OTEL_OTLP_PROXY: "http://proxy.example:1",
        },
      },
    );
    expect(loaded.otlp.traces).toEqual({
      url: "https://team.example:4318/v1/traces",
      protocol: "http/protobuf",
      headers: { authorization: "Bearer team" },
      compression: "gzip",
      timeoutMs: 10_000,
    });
    expect(loaded.errors).toEqual([]);
    // Agents set these variables for themselves, so they deserve no warning
    expect(loaded.warnings.join("\n")).not.toContain("OTEL_EXPORTER");
    expect(loaded.warnings).toHaveLength(3);
  });

  it("a locked general setting is locked for each signal, a locked entry only for itself", () => {
    expect(isLocked(["otlp.endpoint"], "otlp.traces.endpoint")).toBe(true);
    expect(isLocked(["otlp.endpoint"], "otlp.endpoints")).toBe(false);
    expect(isLocked(["otlp.headers"], "otlp.metrics.headers.x")).toBe(true);
    expect(isLocked(["otlp.traces.endpoint"], "otlp.endpoint")).toBe(false);
    expect(isLocked(["resource.attributes.team"], "resource.attributes.team")).toBe(true);
    expect(isLocked(["resource.attributes.team"], "resource.attributes.region")).toBe(false);
  });

  it.each([
    ['{ "locked": ["captur"] }', /"locked" names "captur", which is no setting/],
    ['{ "locked": "capture" }', /"locked" must be a list/],
    ['{ "capture": ', /not valid JSON/],
  ])("a file that cannot be understood stops exports: %s", async (text, reason) => {
    const loaded = await load(text, { file: { otlp: { endpoint: "http://own.example" } } });
    expect(loaded.errors).toEqual([expect.stringMatching(reason)]);
    expect([loaded.otlp.traces, loaded.otlp.metrics]).toEqual([undefined, undefined]);
  });
});

describe("its owner and mode", () => {
  const file = { otlp: { endpoint: "http://own.example" } };
  const refused = async (options: Parameters<typeof load>[1], reason: RegExp) => {
    const loaded = await load({ capture: "full" }, { file, ...options });
    expect(loaded.errors).toEqual([expect.stringMatching(reason)]);
    expect(loaded.config.capture).toBe("metadata");
    expect(loaded.otlp.traces).toBeUndefined();
  };

  it("a file of another user than root is refused", () =>
    refused({ trustedUids: [uid + 1] }, new RegExp(`belongs to user ${uid}, not to root.*export is off`)));

  it.each([0o664, 0o646])("a file that others can write to is refused: mode %o", (mode) =>
    refused({ mode }, /chmod 644/),
  );

  it("a file in a folder that others can write to is refused", async () => {
    chmodSync(folder, 0o775);
    await refused({}, /can write its folder .*etc: chmod 755/);
    chmodSync(folder, 0o755);
    chmodSync(place.directory, 0o757);
    await refused({}, /can write its folder/);
  });

  it("a link counts as its target", async () => {
    const link = join(folder, "link.json");
    writeFileSync(machineConfigPath, JSON.stringify({ capture: "none" }));
    chmodSync(machineConfigPath, 0o644);
    symlinkSync(machineConfigPath, link);
    const read = () =>
      loadConfig({
        env: {},
        places: { configPath: place.configPath, machineConfigPath: link },
        trustedUids: TRUSTED,
      });
    expect((await read()).config.capture).toBe("none");
    chmodSync(machineConfigPath, 0o666);
    expect((await read()).errors).toHaveLength(1);
  });

  it("a folder in its place is refused, and none is none", async () => {
    const at = (path: string) =>
      loadConfig({ env: {}, places: { configPath: place.configPath, machineConfigPath: path }, trustedUids: TRUSTED });
    expect((await at(folder)).errors).toEqual([expect.stringMatching(/not a regular file/)]);
    expect((await at(join(folder, "none.json"))).errors).toEqual([]);
    expect((await at(join(place.configPath, "none.json"))).errors).toEqual([]);
  });
});
