import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConfigAction, config } from "#commands/config.ts";
import type { Context } from "#config/context.ts";
import { placesOf } from "#config/places.ts";
import { SETTINGS } from "#config/settings.ts";
import { UserError } from "#kit/errors.ts";
import { UNWRITABLE_DIR } from "../support/unreadable.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-otel-config-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const places = () => placesOf({ env: {}, home, platform: "linux" });
const path = () => places().configPath;
const file = () => readFileSync(path(), "utf8");

function write(text: string): void {
  mkdirSync(dirname(path()), { recursive: true });
  writeFileSync(path(), text);
}

async function run(action: ConfigAction, env: Record<string, string> = {}, machine?: unknown) {
  const [out, err]: [string[], string[]] = [[], []];
  const context: Context = {
    env,
    cwd: home,
    platform: "linux",
    arch: "x64",
    places: places(),
    stdin: Readable.from([]),
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    now: () => 0,
    nodePath: "node",
    programPath: "openhook-otel",
  };
  const machineConfigPath = join(home, "machine.json");
  if (machine !== undefined) writeFileSync(machineConfigPath, JSON.stringify(machine), { mode: 0o644 });
  const managed = { ...context, places: { ...places(), machineConfigPath }, trustedUids: [0, process.getuid?.() ?? 0] };
  const code = await config(action, machine === undefined ? context : managed);
  return { code, out: out.join(""), err: err.join("") };
}

const set = (key: string, value: string, env?: Record<string, string>) => run({ kind: "set", key, value }, env);
const unset = (key: string) => run({ kind: "unset", key });
const get = (key: string, env?: Record<string, string>) => run({ kind: "get", key }, env);
const show = (env?: Record<string, string>, json = false) => run({ kind: "show", json, all: true }, env);

it("show without --all has only what was set, and the number of the others", async () => {
  expect((await run({ kind: "show", json: false })).out).toMatch(
    /\nall \d+ settings have their default: \S+ config --all shows them\n$/,
  );
  const { out } = await run({ kind: "show", json: false }, { OPENHOOK_OTEL_CAPTURE: "none" });
  const rows = out.split("\n").filter((line) => /^[a-z]+(\.\w+)* {2}/i.test(line));
  expect(rows).toEqual([expect.stringMatching(/^SETTING +VALUE/), expect.stringMatching(/^capture +none +/)]);
  expect(out).toMatch(/\n\n\d+ more settings have their default: /);
});

/** The error of an action that must fail. */
async function failure(action: Promise<unknown>): Promise<UserError> {
  const error = await action.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof UserError)) throw new Error(`expected a UserError, got ${String(error)}`);
  expect(error.message).not.toContain("\n");
  return error;
}

describe("config set", () => {
  it("creates a private file, with the schema beside it", async () => {
    const { code, out } = await set("otlp.endpoint", "http://127.0.0.1:4318");
    expect([code, out]).toEqual([0, `otlp.endpoint = http://127.0.0.1:4318 in ${path()}\n`]);
    expect(file()).toBe(
      '{\n  "$schema": "./config.schema.json",\n  "otlp": {\n    "endpoint": "http://127.0.0.1:4318"\n  }\n}\n',
    );
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path())).mode & 0o777).toBe(0o700);
    expect(JSON.parse(readFileSync(join(dirname(path()), "config.schema.json"), "utf8"))).toMatchObject({
      title: "openhook-otel settings",
    });
  });

  it("reads the value by the setting's type", async () => {
    await set("otlp.timeoutMs", "2500");
    await set("disabled", "true");
    await set("semconv", "latest");
    await set("otlp.metrics.temporality", "delta");
    await set("resource.attributes", '{"team":"a","x.y":"b"}');
    await set("resource.attributes.deployment.environment.name", "laptop");
    expect(JSON.parse(file())).toEqual({
      $schema: "./config.schema.json",
      otlp: { timeoutMs: 2500, metrics: { temporality: "delta" } },
      disabled: true,
      semconv: "latest",
      resource: { attributes: { team: "a", "x.y": "b", "deployment.environment.name": "laptop" } },
    });
  });

  it("keeps comments and layout", async () => {
    const text =
      '{\n\t// ours\n\t"otlp": { "endpoint": "http://a.example", }, // work\n\t/* off? */ "disabled": false,\n}\n';
    write(text);
    await set("otlp.endpoint", "http://b.example");
    expect(file()).toBe(text.replace("a.example", "b.example"));
    await set("otlp.timeoutMs", "5");
    await set("semconv", "v1.41");
    expect(file()).toBe(
      '{\n\t// ours\n\t"otlp": { "endpoint": "http://b.example", "timeoutMs": 5, }, // work\n\t/* off? */ "disabled": false,\n\t"semconv": "v1.41",\n}\n',
    );
    await unset("semconv");
    await unset("otlp.timeoutMs");
    await set("otlp.endpoint", "http://a.example");
    expect(file()).toBe(text);
  });

  it("stores one header, whatever the case of its name, and never shows it", async () => {
    const first = await set("otlp.headers.Authorization", "Bearer s3cret");
    expect(first.out).toBe(`otlp.headers.authorization = *** in ${path()}\n`);
    write('{ "otlp": { "headers": { "Authorization": "Bearer s3cret" } } }\n');
    chmodSync(path(), 0o644);
    const second = await set("otlp.headers.authorization", "Bearer s3cret2");
    expect(file()).toBe('{ "otlp": { "headers": { "Authorization": "Bearer s3cret2" } } }\n');
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    const whole = await set("otlp.headers", '{"authorization":"s3cret","x":"s3cret"}');
    expect(first.out + second.out + whole.out).not.toContain("s3cret");
    await unset("otlp.headers.AUTHORIZATION");
    expect(JSON.parse(file())).toEqual({ otlp: { headers: { x: "s3cret" } } });
  });

  it("sets the effective header if two differ only in case", async () => {
    write('{ "otlp": { "headers": { "Authorization": "a", "authorization": "b" } } }');
    await set("otlp.headers.Authorization", "c");
    expect(readFileSync(path(), "utf8")).toContain('{ "Authorization": "a", "authorization": "c" }');
  });

  it("reports a variable that overrides it", async () => {
    const { err } = await set("otlp.endpoint", "http://a.example", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://b.example" });
    expect(err).toBe("note: environment variable OTEL_EXPORTER_OTLP_ENDPOINT overrides otlp.endpoint here\n");
  });

  it.each([
    [
      "otlp.timeoutMs",
      "soon",
      'config set: otlp.timeoutMs must be a whole number from 1 to 600000 (ms), not "soon"; nothing was changed',
    ],
    ["transcripts.folders", "~/copied", 'transcripts.folders must contain absolute paths, separated by ":"'],
    ["transcripts.folders", '["/data/a","/data/b"]', "transcripts.folders must contain absolute paths"],
    ["transcripts.folders", "/data/a:copied", "transcripts.folders must contain absolute paths"],
    [
      "otlp.endpoint",
      "localhost:4318",
      'otlp.endpoint must begin with http:// or https://, not "localhost:4318": write http://localhost:4318; nothing was changed',
    ],
    ["otlp.endpoint", "http://ada:s3cret@a.example", 'put it into "otlp.headers.authorization" instead'],
    ["disabled", "maybe", 'disabled must be true or false, not "maybe"'],
    ["otlp.headers", '{"a":', "otlp.headers is not valid JSON"],
    ["otlp.headers", '{"authorization":["s3cret"]}', "otlp.headers.authorization must be a string, not a list"],
    ["otlp.headers.authorization: Bearer s3cret", "", "has an entry whose name HTTP does not allow"],
    ["otlp.endpont", "http://a.example", "Did you mean otlp.endpoint?"],
    ["endpoint", "http://a.example", "Did you mean otlp.endpoint?"],
    ["otlp", "{}", "It is a group: otlp.endpoint, otlp.protocol, otlp.headers …"],
    ["$schema", "x", '"openhook-otel config" lists all settings'],
    ["otlp.headers.", "x", 'unknown setting "otlp.headers."'],
  ])("refuses %s %s", async (key, value, words) => {
    const { message, exitCode, code } = await failure(set(key, value));
    expect(message).toContain(words);
    expect(message).not.toContain("s3cret");
    expect([exitCode, code]).toEqual([2, "E_CONFIG"]);
    expect(() => file()).toThrow();
  });

  it.each([
    ['{\n  "otlp": {\n', ":3: not valid JSON"],
    ["[]\n", ":1: not a JSON object"],
    ['{\n  "otlp": 5\n}\n', ":2: otlp is not an object"],
  ])("leaves a broken file alone: %j", async (text, words) => {
    write(text);
    const { message, exitCode } = await failure(set("otlp.endpoint", "http://a.example"));
    expect(message).toContain(`cannot change ${path()}${words}`);
    expect(exitCode).toBe(2);
    expect(file()).toBe(text);
  });

  it("follows a link to the file it names", async () => {
    const real = join(home, "dotfiles.json");
    writeFileSync(real, '{ "semconv": "both" }\n');
    mkdirSync(dirname(path()), { recursive: true });
    symlinkSync(real, path());
    await set("semconv", "latest");
    expect(readFileSync(real, "utf8")).toBe('{ "semconv": "latest" }\n');
  });

  it("fails with one line if nothing can be written", async () => {
    // a file in place of the directory: root cannot write either
    writeFileSync(join(home, ".config"), "");
    const { message, exitCode } = await failure(set("disabled", "true"));
    expect(message).toContain(path());
    expect(exitCode).toBe(1);
  });

  it("fails with one line if the file is not writable", async () => {
    symlinkSync(UNWRITABLE_DIR, join(home, ".config"));
    const { message, exitCode } = await failure(set("disabled", "true"));
    expect(message).toContain(path());
    expect(message).toMatch(/permi/);
    expect(exitCode).toBe(1);
  });
});

describe("config unset", () => {
  it("needs no file, and reports if there is nothing to remove", async () => {
    expect(await unset("disabled")).toEqual({ code: 0, out: `disabled is not set in ${path()}\n`, err: "" });
    expect(() => file()).toThrow();
  });

  it("removes unknown keys too", async () => {
    write('{\n  "otlp": {\n    "endpont": "http://a.example"\n  }\n}\n');
    expect((await unset("otlp.endpont")).out).toBe(`otlp.endpont removed from ${path()}\n`);
    expect(JSON.parse(file())).toEqual({ otlp: {} });
    expect((await failure(unset("otlp.endpont"))).message).toContain("Did you mean otlp.endpoint?");
  });
});

describe("config get", () => {
  it("prints only the effective value", async () => {
    write('{ "otlp": { "headers": { "Authorization": "s3cret" }, "timeoutMs": 7 } }');
    expect(await get("otlp.timeoutMs")).toEqual({ code: 0, out: "7\n", err: "" });
    expect((await get("otlp.timeoutMs", { OPENHOOK_OTEL_OTLP_TIMEOUT_MS: "8" })).out).toBe("8\n");
    expect((await get("otlp.headers.AUTHORIZATION")).out).toBe("***\n");
    expect((await get("otlp.headers")).out).toBe('{"authorization":"***"}\n');
    expect((await get("resource.attributes")).out).toBe("{}\n");
  });

  it("prints nothing and exits with 1 without a value, 2 for an unknown key or an invalid configuration", async () => {
    expect(await get("otlp.endpoint")).toEqual({ code: 1, out: "", err: "" });
    expect((await failure(get("otlp.endpont"))).exitCode).toBe(2);
    write("{");
    const broken = await get("disabled");
    expect([broken.code, broken.out]).toEqual([2, "false\n"]);
    expect(broken.err).toMatch(/^error: .*not valid JSON/);
  });
});

describe("a machine whose administrator sets and locks settings", () => {
  const machine = {
    capture: "none",
    otlp: { endpoint: "https://team.example" },
    locked: ["otlp", "resource.attributes.team"],
  };
  const on = (action: ConfigAction) => run(action, {}, machine);

  it("shows what is locked, in which file", async () => {
    const { code, out, err } = await on({ kind: "show", json: false, all: true });
    expect([code, err]).toEqual([0, ""]);
    const machinePath = join(home, "machine.json");
    expect(out).toContain(`\nmachine file: ${machinePath}, locks otlp, resource.attributes.team\n\n`);
    expect(out).toMatch(
      new RegExp(`^otlp\\.endpoint +https://team\\.example +machine ${machinePath} \\(locked\\)$`, "m"),
    );
    expect(out).toMatch(/^otlp\.timeoutMs +10000 ms +default \(locked\)$/m);
    expect(out).toMatch(new RegExp(`^capture +none +machine ${machinePath}$`, "m"));
    const json = JSON.parse((await on({ kind: "show", json: true })).out);
    expect(json.machine).toEqual({ file: machinePath, exists: true, locked: machine.locked });
    expect(json.settings).toContainEqual({
      key: "otlp.endpoint",
      value: "https://team.example",
      source: { kind: "machine", path: machinePath },
      variable: "OPENHOOK_OTEL_OTLP_ENDPOINT",
      locked: true,
    });
  });

  it.each([
    ["otlp.endpoint", "http://own.example"],
    ["otlp.headers.x-own", "1"],
    ["resource.attributes", "team=own"],
  ])("refuses to set %s, and writes nothing", async (key, value) => {
    const { message, exitCode } = await failure(on({ kind: "set", key, value }));
    expect(message).toMatch(`${key} is locked by this machine's administrator in ${join(home, "machine.json")}`);
    expect(exitCode).toBe(2);
    expect(existsSync(path())).toBe(false);
  });

  it("sets what is not locked, and removes what a lock made useless", async () => {
    write('{ "otlp": { "timeoutMs": 5 } }');
    expect((await on({ kind: "set", key: "capture", value: "metadata" })).code).toBe(0);
    expect((await on({ kind: "get", key: "capture" })).out).toBe("metadata\n");
    expect((await on({ kind: "unset", key: "otlp.timeoutMs" })).out).toMatch(/^otlp.timeoutMs removed from/);
  });
});

describe("config", () => {
  it("shows every setting, its value and where it comes from", async () => {
    write('{ "otlp": { "endpoint": "http://a.example" } }');
    const { code, out, err } = await show({
      OTEL_SERVICE_NAME: "lab",
      OPENHOOK_OTEL_OTLP_TIMEOUT_MS: "300",
      OPENHOOK_OTEL_RESOURCE_ATTRIBUTES: "a.b=c",
    });
    expect([code, err]).toEqual([0, ""]);
    const line = (key: string) =>
      out
        .split("\n")
        .find((text) => text.startsWith(`${key} `))
        ?.replace(/ {2,}/g, " | ");
    expect(out).toContain(`file: ${path()}\n`);
    expect(line("otlp.endpoint")).toBe(`otlp.endpoint | http://a.example | file ${path()}`);
    expect(line("otlp.timeoutMs")).toBe("otlp.timeoutMs | 300 ms | environment OPENHOOK_OTEL_OTLP_TIMEOUT_MS");
    expect(line("resource.serviceName")).toBe("resource.serviceName | lab | environment OTEL_SERVICE_NAME");
    expect(line("resource.attributes.a.b")).toBe(
      "resource.attributes.a.b | c | environment OPENHOOK_OTEL_RESOURCE_ATTRIBUTES",
    );
    expect(line("otlp.traces.timeoutMs")).toBe("otlp.traces.timeoutMs | as otlp.timeoutMs | default");
    expect(line("semconv")).toBe("semconv | both | default");
    for (const { key, kind } of SETTINGS) if (kind !== "map") expect(line(key)).toBeDefined();
  });

  it("works without a file", async () => {
    const { code, out } = await show();
    expect(code).toBe(0);
    expect(out).toContain(`file: ${path()} (none yet)\n`);
  });

  it("ends with warnings and errors, and 2 for errors", async () => {
    write('{ "zebra": 1, "otlp": { "timeoutMs": "x" } }');
    const { code, err } = await show();
    expect(code).toBe(2);
    expect(err).toMatch(/^\nwarning: .*"zebra".*\nerror: .*otlp.timeoutMs.*\n$/);
  });

  it("shows no secret, as text or as JSON, in values, warnings or errors", async () => {
    write(
      JSON.stringify({
        otlp: {
          endpoint: "https://a.example/x?api-key=s3cret",
          headers: { authorization: "Bearer s3cret", "bad name s3cret": "s3cret" },
          traces: { endpoint: "http://ada:s3cret@a.example", headers: { "x-key": "s3cret\n" } },
          metrics: { headers: { "x-api-key": "s3cret" } },
        },
      }),
    );
    const env = {
      OPENHOOK_OTEL_OTLP_HEADERS: "x=s3cret,y%zz=s3cret",
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: "authorization: s3cret=1,s3cret",
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "https://b.example/?k=s3cret",
      OPENHOOK_OTEL_OTLP_TRACES_ENDPOINT: "ada:s3cret@a.example",
    };
    for (const json of [false, true]) {
      const { out, err } = await show(env, json);
      expect(out).toContain("https://a.example/x?api-key=***");
      expect(out).toContain("https://b.example/?k=***");
      expect(out + err).not.toContain("s3cret");
    }
    for (const key of ["otlp.endpoint", "otlp.headers", "otlp.metrics.headers", "otlp.metrics.endpoint"]) {
      const { out, err } = await get(key, env);
      expect(out + err).not.toContain("s3cret");
    }
  });

  it("writes no control characters to the terminal", async () => {
    const { out } = await show({ OTEL_SERVICE_NAME: "a\x1b[2Jb\u009bc" });
    expect(out).toContain("a\\x1b[2Jb\\x9bc");
  });

  it("is complete as JSON", async () => {
    const shown = JSON.parse((await show({ OPENHOOK_OTEL_ZEBRA: "1" }, true)).out);
    expect(Object.keys(shown)).toEqual(["file", "exists", "machine", "settings", "warnings", "errors"]);
    expect(shown.settings).toHaveLength(SETTINGS.length);
    expect(shown.settings).toContainEqual({
      key: "otlp.timeoutMs",
      value: 10_000,
      source: { kind: "default" },
      variable: "OPENHOOK_OTEL_OTLP_TIMEOUT_MS",
      locked: false,
      unit: "ms",
    });
    expect(shown.warnings).toHaveLength(1);
  });

  it("prints its path", async () => {
    expect(await run({ kind: "path" })).toEqual({ code: 0, out: `${path()}\n`, err: "" });
  });
});
