import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { allAgents } from "../../src/agents/registry.ts";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";
import { CASES, Replay } from "../support/replay.ts";
import { cmd, copyTo, filesIn, newProfile, otel, run, runAll } from "./lab.ts";

const agents = await allAgents();
const SOURCES = agents.filter(({ installer }) => installer !== undefined).map(({ source }) => source);

test("enabling every agent and disabling all restores every file, byte for byte", () => {
  const { env, folder } = newProfile("Änne Müller");
  const files: Readonly<Record<string, string>> = {
    ".claude/settings.json": '{\r\n  // mine\r\n  "model": "opus"\r\n}\r\n',
    ".codex/config.toml": 'model = "gpt"\r\n',
    ".cursor/hooks.json": '{"version":1,"hooks":{"stop":[{"command":"echo mine"}]}}',
    ".gemini/settings.json": '\ufeff{"theme":"dark"}',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const before = withoutOwnFiles(folder);
  const ofUser = SOURCES.filter((source) => source !== "openhook");
  const enabled = run(otel(["enable", ...ofUser], { env }));
  expect(enabled.stderr).toBe("");
  expect(enabled.stdout.match(/: enabled in /g)).toHaveLength(ofUser.length);
  expect(withoutOwnFiles(folder)).not.toEqual(before);
  // The registered line, as cmd runs it
  const registered = readFileSync(join(folder, ".claude", "settings.json"), "utf8").replace("// mine", "");
  const line: string = JSON.parse(registered).hooks.SessionStart[0].hooks[0].command;
  const payload = JSON.stringify({ session_id: "s1", hook_event_name: "SessionStart", cwd: "C:\\work" });
  const [hook, missing] = runAll([
    cmd(line, { env, stdin: payload }),
    cmd(line.replaceAll("hook.cjs", "gone.cjs"), { env, stdin: payload }),
  ]);
  expect([hook?.code, hook?.stdout, hook?.stderr]).toEqual([0, "", ""]);
  expect(missing?.code).toBe(0);
  expect(readdirSync(join(folder, "AppData", "Local", "openhook-otel", "inbox"))).toHaveLength(1);
  expect(run(otel(["disable", ...ofUser], { env })).code).toBe(0);
  expect(withoutOwnFiles(folder)).toEqual(before);
});

/** Recordings of different kinds: lines, a whole document, a database. */
const RECORDINGS = [
  ["claude-code", "subagent"],
  ["codex", "basic"],
  ["copilot", "basic"],
  ["gemini-cli", "basic"],
  ["opencode", "basic"],
  ["qwen-code", "basic"],
] as const;

describe("past sessions give the same figures as on Linux", () => {
  test.each(RECORDINGS.filter(([source, name]) => existsSync(join(CASES, source, name))))("%s %s", (source, name) => {
    ensureBuilt();
    const { env, folder } = newProfile(`past-${source}`);
    const replay = new Replay(source, name);
    const stateDir = mkdtempSync(join(tmpdir(), "openhook-windows-linux-"));
    try {
      copyTo(replay.home, folder);
      const here = { PATH: process.env["PATH"] ?? "", HOME: replay.home, OPENHOOK_OTEL_HOME: stateDir };
      const onLinux = (args: readonly string[]) =>
        JSON.parse(execFileSync(process.execPath, [PROGRAM, ...args], { env: here, encoding: "utf8" }));
      const commands = [
        ["import", source, "--json"],
        ["report", "agent", "model", "--since", "2020-01-01", "--json"],
        ["report", "tool", "--since", "2020-01-01", "--json"],
        ["report", "session", "--since", "2020-01-01", "--json"],
      ];
      const expected = commands.map((args) => comparable(onLinux(args)));
      const found = runAll(commands.map((args) => otel(args, { env })));
      expect(found.map(({ stderr }) => stderr)).toEqual(found.map(() => ""));
      expect(found.map(({ stdout }) => comparable(JSON.parse(stdout)))).toEqual(expected);
    } finally {
      replay.remove();
      removeFolder(stateDir);
    }
  });
});

// --- internal ---

/** Without what depends on the clock. */
const comparable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, one) => (/^(?:seconds|until|to)$/.test(key) ? undefined : one)));

const withoutOwnFiles = (folder: string) =>
  Object.fromEntries(Object.entries(filesIn(folder)).filter(([path]) => !/AppData\/.*openhook-otel\//.test(path)));
