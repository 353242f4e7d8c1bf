import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { placesOf } from "#config/places.ts";
import { hookCommandOf } from "#setup/registration/hook-program.ts";
import { contextAt } from "../support/context.ts";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";
import { CASES, Replay } from "../support/replay.ts";
import { cmd, copyTo, filesIn, newProfile, onDisk, otel, run, runAll } from "./lab.ts";

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
  const line = firstLineIn(registered);
  const payload = JSON.stringify({ session_id: "s1", hook_event_name: "SessionStart", cwd: "C:\\work" });
  // A repository with a program that cmd would find first
  const repository = onDisk("work", "hostile-node");
  mkdirSync(repository, { recursive: true });
  writeFileSync(join(repository, "node.cmd"), "@echo started> C:\\work\\hostile-node\\started\r\n");
  const [hook, missing] = runAll([
    cmd(line, { env, stdin: payload, cwd: "C:\\work\\hostile-node" }),
    cmd(line.replaceAll("hook.cjs", "gone.cjs"), { env, stdin: payload }),
  ]);
  expect([hook?.code, hook?.stdout, hook?.stderr]).toEqual([0, "", ""]);
  expect(readdirSync(repository)).toEqual(["node.cmd"]);
  expect(missing?.code).toBe(0);
  expect(readdirSync(join(folder, "AppData", "Local", "openhook-otel", "inbox"))).toHaveLength(1);
  expect(run(otel(["disable", ...ofUser], { env })).code).toBe(0);
  expect(withoutOwnFiles(folder)).toEqual(before);
});

test("a project's line, the same as on Linux, runs in cmd", () => {
  const { env, folder, state } = newProfile("Jörg O'Neil");
  const project = "C:\\work\\acme";
  const files = onDisk("work", "acme");
  run(cmd(`rmdir /s /q ${project} & mkdir ${project}`, { env }));
  expect(run(otel(["enable", "claude-code", "cursor", "--scope", "project"], { env, cwd: project })).code).toBe(0);
  const settings = readFileSync(join(files, ".claude", "settings.json"), "utf8");
  const line = firstLineIn(settings);
  expect(line).toBe(onLinux({ source: "claude-code", drain: "if-waiting" }));
  const withReply = JSON.parse(readFileSync(join(files, ".cursor", "hooks.json"), "utf8")).hooks.stop[0].command;
  const payload = JSON.stringify({ session_id: "s1", hook_event_name: "SessionStart", cwd: project });
  const steps = [
    cmd(line, { env, stdin: payload, cwd: project }),
    cmd(withReply, { env, stdin: "{}", cwd: project }),
    cmd(line, { env: { ...env, LOCALAPPDATA: `${env.LOCALAPPDATA}\\none` }, stdin: payload }),
    cmd(line, { env: { ...env, PATH: "C:\\windows\\system32" }, stdin: payload }),
  ];
  const [hook, reply, missing, withoutNode] = runAll(steps);
  expect([hook?.code, hook?.stdout, hook?.stderr]).toEqual([0, "", ""]);
  expect([reply?.code, reply?.stdout, reply?.stderr]).toEqual([0, "{}\n", ""]);
  expect([missing?.code, missing?.stdout, missing?.stderr]).toEqual([0, "", ""]);
  expect(withoutNode?.code).toBe(0);
  expect(readdirSync(join(state, "inbox"))).toHaveLength(2);
  // A line from before, with a Node that is gone
  const old = line.replaceAll("node -e", "C:\\\\gone\\\\node.exe -e");
  writeFileSync(join(files, ".claude", "settings.json"), settings.replaceAll(quoted(line), quoted(old)));
  expect(run(otel(["doctor"], { env, cwd: project })).stdout.replaceAll(/\s+/g, " ")).toContain(
    "the command line in the settings of claude-code was run as the agent runs it, and in cmd it printed something",
  );
  expect(readdirSync(folder)).not.toContain(".claude");
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

const firstLineIn = (settings: string): string => JSON.parse(settings).hooks.SessionStart[0].hooks[0].command;

const quoted = (text: string): string => JSON.stringify(text).slice(1, -1);

const onLinux = hookCommandOf(
  contextAt(placesOf({ env: {}, home: "/home/dev", platform: "linux" })).context,
  "project",
);

/** Without what depends on the clock. */
const comparable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, one) => (/^(?:seconds|until|to)$/.test(key) ? undefined : one)));

const withoutOwnFiles = (folder: string) =>
  Object.fromEntries(Object.entries(filesIn(folder)).filter(([path]) => !/AppData\/.*openhook-otel\//.test(path)));
