import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import { readReceiver } from "#collect/native/receiver-file.ts";
import { disable } from "#commands/disable.ts";
import { enable } from "#commands/enable.ts";
import { disableNative, enableNative } from "#commands/native.ts";
import { uninstall } from "#commands/uninstall.ts";
import { loadConfig } from "#config/load.ts";
import { placesOf } from "#config/places.ts";
import { UserError } from "#kit/errors.ts";
import { contextAt } from "../support/context.ts";
import fc from "../support/properties.ts";
import { ROOT } from "../support/replay.ts";
import { runs } from "../support/whole.ts";

const agents = { list: allAgents, find: findAgent };
const hookSource = join(ROOT, "src", "collect", "intake", "hook.sh");
const OTHER = "https://otel.acme.example:4318";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-native-"));
  writeFileSync(join(home, "openhook-otel.cjs"), "");
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const places = () => placesOf({ env: {}, home, platform: "linux" });
const at = (path: string): string => join(home, ...path.split("/"));
const write = (path: string, text: string): void => {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
};
const read = (path: string): string | undefined => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : undefined);

function world(env: Record<string, string> = {}) {
  const made = contextAt(places(), { env, programPath: join(home, "openhook-otel.cjs") });
  const on = (names: readonly string[], forward = false) =>
    enableNative(names, { dryRun: false, forward }, made.context, agents);
  return {
    ...made,
    on,
    off: (names: readonly string[]) => disableNative(names, { dryRun: false }, made.context, agents),
    hooks: (name: string) =>
      enable([name], { scope: "user", yes: true, dryRun: false, hookSource }, made.context, agents),
    disable: (name: string) => disable([name], { scope: "user", yes: true, dryRun: false }, made.context, agents),
    configured: async () => (await loadConfig(made.context)).config.native.forward,
  };
}

const JSON_TEXTS = [
  "{}",
  "{}\n",
  "{ }",
  '{"a":1}',
  '{\n  "a": 1\n}\n',
  '{\r\n\t"a": [1,2], // mine\r\n}\r\n',
  '\uFEFF{\n    "a": { "b": null }\n}',
  "{\n  // only a comment\n}\n",
  '{"hooks":{"Stop":[]},"env":{}}',
  '{\n  "env": {\n    "A": "b"\n  },\n  "telemetry": {\n    "target": "local"\n  }\n}\n',
];
const TOML_TEXTS = [
  "",
  'model = "x"',
  'model = "x"\n',
  'model = "x"\r\n\r\n[a]\r\nb = 1\r\n',
  '[otel]\nenvironment = "dev"\n\n[z]\ny = 1\n',
  "[otel]\n",
  "[otel]",
  'otel.environment = "dev"\n[z]\ny = 1\n',
  '[otel]\nlog_user_prompt = true # mine\nexporter = "none"\n',
];
const YAML_TEXTS = ["", "GOOSE_MODEL: x", "GOOSE_MODEL: x\n", "# mine\r\nA: 1\r\nextensions:\r\n  b:\r\n    c: 1\r\n"];

/** The settings file of each agent that has one, texts that it can have, and how a user adds a line. */
const FILES = {
  "claude-code": { path: ".claude/settings.json", texts: JSON_TEXTS },
  "gemini-cli": { path: ".gemini/settings.json", texts: JSON_TEXTS },
  "qwen-code": { path: ".qwen/settings.json", texts: JSON_TEXTS },
  codex: { path: ".codex/config.toml", texts: TOML_TEXTS },
  goose: { path: ".config/goose/config.yaml", texts: YAML_TEXTS },
} as const;
type Name = keyof typeof FILES;
const NAMES = Object.keys(FILES) as readonly Name[];

/** A line that a user, or the agent, adds at the top. */
const edited = (name: Name, text: string): string =>
  text.endsWith("}") || text.includes("}")
    ? name === "codex"
      ? `mine = true\n${text}`
      : text.replace("{", '{"mine":true,')
    : name === "goose"
      ? `mine: true\n${text}`
      : `mine = true\n${text}`;

describe("enable --native", () => {
  it.each(NAMES)("and disable --native restore the settings of %s byte for byte", async (name) => {
    const { path, texts } = FILES[name];
    for (const text of [undefined, ...texts]) {
      if (text !== undefined) write(path, text);
      const { on, off } = world();
      expect(await on([name])).toBe(0);
      const once = read(path);
      expect(once).not.toBe(text);
      expect(await on([name])).toBe(0);
      expect(read(path)).toBe(once);
      expect(await off([name])).toBe(0);
      expect([text, read(path)]).toEqual([text, text]);
      expect(existsSync(at(path))).toBe(text !== undefined);
      expect(readReceiver(places().stateDir)).toBeUndefined();
    }
  });

  it.each(NAMES)(
    "and disable restore %s in any order with the hooks, and keep what was added meanwhile",
    async (name) => {
      const { path, texts } = FILES[name];
      const steps = fc.shuffledSubarray(["hooks", "native", "edit"] as const, { minLength: 1 });
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...texts), steps, async (text, order) => {
          // Nothing can be put into an object without members by adding `"mine":true,`
          const isBare = /^\uFEFF?\{\s*(?:\/\/[^\n]*\n)?\s*\}\s*$/.test(text);
          fc.pre(!(isBare && order.includes("edit")));
          write(path, text);
          const { hooks, on, disable } = world();
          for (const step of order) {
            if (step === "hooks") await hooks(name);
            else if (step === "native") await on([name]);
            else write(path, edited(name, read(path) ?? ""));
          }
          await disable(name);
          const expected = order.includes("edit") ? edited(name, text) : text;
          expect([order, read(path)]).toEqual([order, expected]);
        }),
        { numRuns: runs(40) },
      );
    },
  );

  it("switches content off, and takes exporters of the user for its own in no case", async () => {
    write(".claude/settings.json", JSON.stringify({ env: { OTEL_LOG_USER_PROMPTS: "1" } }));
    write(".gemini/settings.json", JSON.stringify({ telemetry: { logPrompts: true } }));
    write(".codex/config.toml", "[otel]\nlog_user_prompt = true\n");
    const { on, context } = world();
    expect(await on(NAMES)).toBe(0);
    for (const name of NAMES) {
      const native = (await (await findAgent(name))?.nativeExport?.())?.default;
      const found = await native?.find({ home, project: home, env: {} });
      expect([name, found?.map(({ hasContent }) => hasContent)]).toEqual([name, [false]]);
    }
    expect(readReceiver(context.places.stateDir)?.agents).toEqual(["claude-code", "codex", "goose"]);
    for (const name of ["claude-code", "codex", "goose"] as const) {
      const { path } = FILES[name];
      expect(read(path)).toContain(readReceiver(context.places.stateDir)?.token);
    }
  });

  const codexExporter = (key: string): string => {
    const endpoint = `${OTHER}/v1/${key === "exporter" ? "logs" : "traces"}`;
    return `${key} = { otlp-http = { endpoint = "${endpoint}", protocol = "binary", headers = { "x-team" = "a" } } } # mine`;
  };
  const THEIRS: Readonly<Record<Exclude<Name, "gemini-cli" | "qwen-code">, readonly [string, unknown]>> = {
    "claude-code": [
      JSON.stringify({
        env: {
          CLAUDE_CODE_ENABLE_TELEMETRY: "1",
          OTEL_LOGS_EXPORTER: "otlp",
          OTEL_METRICS_EXPORTER: "otlp",
          OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
          OTEL_EXPORTER_OTLP_ENDPOINT: OTHER,
          OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer canary,x-team=a",
        },
      }),
      { endpoint: OTHER, headers: { authorization: "Bearer canary", "x-team": "a" }, protocol: "http/protobuf" },
    ],
    codex: [
      ["[otel]", ...["exporter", "trace_exporter"].map(codexExporter), ""].join("\n"),
      { endpoint: OTHER, headers: { "x-team": "a" }, protocol: "http/protobuf" },
    ],
    goose: [`otel_exporter_otlp_endpoint: ${OTHER}\n`, { endpoint: OTHER, protocol: "http/protobuf" }],
  };

  it.each(Object.entries(THEIRS))(
    "leaves the user's exporter of %s unless --forward hands it on",
    async (name, theirs) => {
      const [text, forward] = theirs;
      const { path } = FILES[name as Name];
      write(path, text);
      const { on, off, configured, out } = world();
      await expect(on([name])).rejects.toThrow(/already exports to https:\/\/otel\.acme\.example:4318 \(.*--forward/);
      expect([read(path), readReceiver(places().stateDir)]).toEqual([text, undefined]);
      expect(await on([name], true)).toBe(0);
      expect(read(path)).not.toContain(OTHER);
      expect(await configured()).toEqual({ [name]: forward });
      expect(await on([name], true)).toBe(0);
      expect(await configured()).toEqual({ [name]: forward });
      expect(out()).not.toContain("canary");
      expect(await off([name])).toBe(0);
      expect([read(path), await configured()]).toEqual([text, {}]);
    },
  );

  it.skipIf(process.platform === "win32")("keeps forwarded headers in a file that only the user can read", async () => {
    write(".claude/settings.json", THEIRS["claude-code"][0]);
    await world().on(["claude-code"], true);
    const { statSync } = await import("node:fs");
    expect(statSync(places().configPath).mode & 0o777).toBe(0o600);
  });

  it.each<[string, Name, string, Record<string, string>]>([
    ["Google Cloud wins over a file", "gemini-cli", '{"telemetry":{"target":"gcp"}}', {}],
    [
      "a signal has an address of its own",
      "claude-code",
      JSON.stringify({ env: { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: OTHER } }),
      {},
    ],
  ])("changes nothing if %s", async (_, name, text, env) => {
    const { path } = FILES[name];
    write(path, text);
    const before = readdirSync(home, { recursive: true });
    await expect(world(env).on([name])).rejects.toThrow(/would still export to .*nothing was changed/);
    expect([read(path), readdirSync(home, { recursive: true })]).toEqual([text, before]);
  });

  it("does not hand on what it could not hand on unchanged", async () => {
    const grpc = THEIRS["claude-code"][0].replace("http/protobuf", "grpc");
    write(".claude/settings.json", grpc);
    await expect(world().on(["claude-code"], true)).rejects.toThrow(
      /cannot be handed on unchanged; nothing was changed/,
    );
    write(".gemini/settings.json", JSON.stringify({ telemetry: { enabled: true, otlpEndpoint: OTHER } }));
    await expect(world().on(["gemini-cli"], true)).rejects.toThrow(/cannot be handed on unchanged/);
    expect([read(".claude/settings.json"), readReceiver(places().stateDir)]).toEqual([grpc, undefined]);
  });

  it.each<[Name, string]>([
    ["claude-code", '{ "env": '],
    ["claude-code", '{ "env": "x" }'],
    ["codex", "[otel\n"],
    ["codex", "otel = { environment = 'dev' }\n"],
    ["goose", "{ GOOSE_MODEL: x }\n"],
  ])("leaves settings of %s that it cannot edit as they are: %j", async (name, text) => {
    const { path } = FILES[name];
    write(path, text);
    const { on, off } = world();
    await expect(on([name])).rejects.toThrow(UserError);
    expect([read(path), readReceiver(places().stateDir)]).toEqual([text, undefined]);
    expect(await off([name])).toBe(0);
    expect(read(path)).toBe(text);
  });

  it("leaves a read-only file as it is, and no trace of having tried", async () => {
    write(".claude/settings.json", "{}\n");
    chmodSync(at(".claude/settings.json"), 0o400);
    await expect(world().on(["claude-code"])).rejects.toThrow(UserError);
    expect([read(".claude/settings.json"), readReceiver(places().stateDir)]).toEqual(["{}\n", undefined]);
    expect(existsSync(join(places().backupDir, "native"))).toBe(false);
  });

  it("prints the variable for agents that have no setting, and changes none of their files", async () => {
    const { on, off, out } = world();
    expect(await on(["copilot", "opencode"])).toBe(0);
    const token = readReceiver(places().stateDir)?.token;
    expect(out()).toContain(`COPILOT_OTEL_FILE_EXPORTER_PATH=${join(places().stateDir, "native/files/copilot.out")}`);
    expect(out()).toMatch(new RegExp(`OTEL_EXPORTER_OTLP_ENDPOINT=http://127\\.0\\.0\\.1:\\d+/opencode/${token}\n`));
    expect(out()).toContain("It always contains command lines");
    expect(readdirSync(home).sort()).toEqual([".local", "openhook-otel.cjs"]);
    expect(await off([])).toBe(0);
    expect(out()).toContain("start it without OTEL_EXPORTER_OTLP_ENDPOINT from now on");
    expect(readReceiver(places().stateDir)).toBeUndefined();
  });

  it("says so for an agent without OpenTelemetry, and for wrapped programs", async () => {
    await expect(world().on(["cursor"])).rejects.toThrow("Cursor has no OpenTelemetry of its own");
    await expect(world().on(["cli-wrapper"])).rejects.toThrow("recorded by wrappers");
    await expect(world().on([])).rejects.toThrow("no agent was found on this machine; name one: ");
  });

  it("shows a dry run without the token, and writes nothing", async () => {
    write(".claude/settings.json", "{}\n");
    const { context, out } = world();
    expect(await enableNative(["claude-code"], { dryRun: true }, context, agents)).toBe(0);
    expect(out()).toContain('+    "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer ***"');
    expect([read(".claude/settings.json"), existsSync(places().stateDir)]).toEqual(["{}\n", false]);
  });

  it("is undone by uninstall, with hooks and without", async () => {
    for (const withHooks of [false, true]) {
      write(".claude/settings.json", '{"a":1}');
      write(".config/goose/config.yaml", "A: 1");
      const { on, hooks, context } = world();
      if (withHooks) await hooks("claude-code");
      await on(["claude-code", "goose"]);
      expect(await uninstall({ purge: true, yes: true, dryRun: false }, context, agents)).toBe(0);
      expect([read(".claude/settings.json"), read(".config/goose/config.yaml")]).toEqual(['{"a":1}', "A: 1"]);
      expect(existsSync(places().stateDir)).toBe(false);
    }
  });

  it("keeps entries that the user has changed since", async () => {
    write(".qwen/settings.json", '{"telemetry":{"logPrompts":true}}');
    const { on, off } = world();
    await on(["qwen-code"]);
    write(".qwen/settings.json", read(".qwen/settings.json")?.replace(/"outfile":"[^"]*"/, '"outfile":"/mine"') ?? "");
    await off(["qwen-code"]);
    expect(read(".qwen/settings.json")).toBe('{"telemetry":{"logPrompts":true,"outfile":"/mine"}}');
  });
});

it("an address of the receiver in a variable is no destination for our own data", async () => {
  const ours = `http://127.0.0.1:20001/opencode/${"t".repeat(43)}`;
  for (const [address, expected] of [
    [ours, undefined],
    ["http://127.0.0.1:4318", "http://127.0.0.1:4318"],
  ]) {
    const { config } = await loadConfig({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: address }, places: places() });
    expect(config.otlp.endpoint).toBe(expected);
  }
});
