import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import { doctor } from "#commands/doctor.ts";
import { enable } from "#commands/enable.ts";
import { enableNative } from "#commands/native.ts";
import { status } from "#commands/status.ts";
import { placesOf } from "#config/places.ts";
import type { NativeDestination } from "#setup/registration/native-exporters.ts";
import { contextAt } from "../support/context.ts";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import { ROOT } from "../support/replay.ts";

const NAMES = new Set(["claude-code", "copilot", "gemini-cli", "goose", "opencode"]);
const agents = {
  list: async () => (await allAgents()).filter(({ source }) => NAMES.has(source)),
  find: findAgent,
};
const hookSource = join(ROOT, "src", "collect", "intake", "hook.sh");
const OURS = "http://127.0.0.1:1";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-doubling-"));
  write("openhook-otel.cjs", "");
  write(".config/openhook-otel/config.json", JSON.stringify({ otlp: { endpoint: OURS } }));
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const write = (path: string, text: string): void => {
  const full = join(home, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
};
const world = (env: Record<string, string> = {}) =>
  contextAt(placesOf({ env: {}, home, platform: "linux" }), {
    env: { PATH: "/usr/bin:/bin", ...env },
    programPath: join(home, "openhook-otel.cjs"),
  });

async function enabled(names: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { context, out } = world(env);
  await enable(names, { scope: "user", yes: true, dryRun: false, hookSource }, context, agents);
  return out();
}

/** What the three commands say, and the JSON. */
async function said(env: Record<string, string> = {}) {
  const [text, json, checked] = [world(env), world(env), world(env)];
  await status({ json: false }, text.context);
  await status({ json: true }, json.context);
  await doctor({ json: true, fix: false, hookSource }, checked.context, agents);
  const facts: { native_exporters: readonly NativeDestination[] } = JSON.parse(json.out());
  const report = JSON.parse(checked.out());
  expect(report.native_exporters).toEqual(facts.native_exporters);
  return { text: text.out(), native: facts.native_exporters, findings: report.findings as readonly { text: string }[] };
}

describe("an agent's own OpenTelemetry beside ours", () => {
  it.each<[string, string, Record<string, string>, string]>([
    [
      "copilot",
      "12 of its metrics have names of ours, so sums of tokens and times count twice",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" },
      "GitHub Copilot CLI also sends its own traces and metrics to http://localhost:4318 (environment variable OTEL_EXPORTER_OTLP_ENDPOINT)",
    ],
    [
      "goose",
      "both have the same service.name, so each session has two traces",
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" },
      "Goose also sends its own traces, metrics and logs",
    ],
    [
      "gemini-cli",
      "each session has a second trace there; prompts or other content are in them",
      { GEMINI_TELEMETRY_ENABLED: "true" },
      "Gemini CLI also sends its own traces, metrics and logs to http://localhost:4317",
    ],
  ])("doubles at the same Collector: %s", async (name, doubled, env, what) => {
    // Our own address is the one in the file of settings: agents' variables never replace it here
    const own = { ...env, OPENHOOK_OTEL_OTLP_ENDPOINT: OURS };
    const once = await enabled([name], own);
    const { text, native, findings } = await said(own);
    for (const one of [once, text]) {
      expect(one.replace(/\s+/g, " ")).toContain(doubled);
      expect(one.replace(/\s+/g, " ")).toContain("collector-config/native.yaml");
    }
    expect(text.replace(/\s+/g, " ")).toContain(what);
    expect(native).toMatchObject([{ source: name, backend: "same" }]);
    expect(findings.filter((one) => one.text.includes(doubled))).toMatchObject([{ level: "remark" }]);
  });

  it("doubles nothing at another backend, and with agents that are not enabled", async () => {
    const env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: OURS,
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://user:canary@otel.acme.example/?key=canary",
      COPILOT_OTEL_FILE_EXPORTER_PATH: "/tmp/otel.jsonl",
    };
    const once = await enabled(["opencode", "copilot"], env);
    const { text, native, findings } = await said(env);
    expect(native.map(({ source, backend, todo }) => [source, backend, todo])).toEqual([
      ["copilot", "local", null],
      ["opencode", "other", null],
    ]);
    expect(findings.filter((one) => one.text.includes("nothing doubles"))).toMatchObject([
      { level: "ok" },
      { level: "ok" },
    ]);
    expect(once + text).not.toContain("also sends");
    expect(JSON.stringify([once, text, native])).not.toContain("canary");
  });

  it("is fine if it comes to us", async () => {
    await enabled(["claude-code", "gemini-cli"]);
    const { context } = world();
    await enableNative(["claude-code", "gemini-cli"], { dryRun: false }, context, agents);
    const { text, native, findings } = await said();
    expect(native.map(({ source, backend }) => [source, backend])).toEqual([
      ["claude-code", "ours"],
      ["gemini-cli", "ours"],
    ]);
    expect(findings.filter((one) => one.text.includes("to openhook-otel, which joins them"))).toHaveLength(2);
    expect(text).not.toContain("joins them");
  });
});

describe("options that do not fit", () => {
  it.each([
    [["enable", "claude-code", "--forward"], "--forward is for --native"],
    [["enable", "--native", "--managed"], "--native cannot be used with --managed"],
    [["enable", "claude-code", "--native", "--scope", "project"], "--native is for your own settings"],
    [["disable", "--native", "--managed"], "--native cannot be used with --managed"],
  ])("are refused: %j", async (args, message) => {
    await ensureBuilt();
    const env = { PATH: process.env["PATH"], HOME: home };
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], { cwd: home, env, encoding: "utf8" });
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
