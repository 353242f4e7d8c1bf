import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { allAgents, findAgent } from "#agents/registry.ts";
import type { HookCommand } from "#core/model/agent.ts";
import { managedFiles, withHooks } from "#setup/registration/managed.ts";
import { unusableNode } from "#setup/registration/managed-program.ts";
import { removeFolder } from "../support/remove.ts";

const FOLDER = "/usr/local/lib/openhook-otel";
const LINUX = { platform: "linux", programFolder: FOLDER } as const;
const WINDOWS = { platform: "win32", programFolder: "C:\\Program Files\\openhook-otel" } as const;
const CONTEXT = { nodePath: "C:\\Program Files\\nodejs\\node.exe", env: {} } as const;
const command: HookCommand = ({ source }) => `${FOLDER}/hook ${source}`;
const managed = (
  await Promise.all((await allAgents()).map(async (card) => ({ card, of: await card.installer?.() })))
).flatMap(({ card, of }) => (of?.default.managed === undefined ? [] : [[card.source, of.default.managed] as const]));

/** What an administrator may already have in the file, by agent. */
const EXISTING: Readonly<Record<string, readonly string[]>> = {
  auggie: ['{\n  "shell": "zsh"\n}\n'],
  copilot: ['{\n  "version": 1,\n  "hooks": { "sessionStart": [{ "type": "command", "bash": "audit" }] }\n}\n'],
  droid: ['{\n  "allowManagedHooksOnly": true\n}\n'],
  "qwen-code": ['{\n  // ours\n  "ui": { "theme": "x" }\n}\n'],
  "claude-code": [],
  codex: ['allowed_sandbox_modes = ["read-only"] # ours\n', "[features]\r\nweb = true\r\n", "a = 1"],
  "gemini-cli": ['{\n  // ours\n  "ui": { "theme": "x" }\n}\n'],
  cursor: ['{\n  "version": 1,\n  "hooks": { "stop": [{ "command": "audit" }] }\n}\n'],
};

test("this test has examples of every agent with a place for an administrator's hooks", () => {
  expect(managed.map(([source]) => source).sort()).toEqual(Object.keys(EXISTING).sort());
});

test.each(managed)("%s: adding twice is adding once, and removing leaves what was there", (source, one) => {
  for (const machine of [LINUX, WINDOWS]) {
    for (const text of [undefined, ...(EXISTING[source] ?? [])]) {
      const added = one.add(text, command, machine);
      expect(one.registered(added).length).toBeGreaterThan(4);
      expect(one.add(added, command, machine)).toBe(added);
      const left = one.remove(added);
      expect(left?.replace(/\r?\n$/, "")).toBe(text?.replace(/\r?\n$/, ""));
      expect(left === undefined ? [] : one.registered(left)).toEqual([]);
    }
  }
  expect(one.path("linux")).toMatch(/^\/etc\//);
  expect(one.path("darwin")).toMatch(/^\/(?:etc|Library)\//);
  // Where only administrators can change a file that an administrator made
  expect(one.path("win32")).toMatch(/^C:\\Program(?: Files|Data)\\[\w\\.-]+$/);
});

test("codex: hooks of others are not mixed with ours", async () => {
  const [, codex] = managed.find(([source]) => source === "codex") ?? [];
  expect(() => codex?.add('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "audit"\n', command, LINUX)).toThrow(
    /has hooks already/,
  );
  expect(() => codex?.add('[hooks]\nmanaged_dir = "/x"\n', command, LINUX)).toThrow(/has hooks already/);
  expect(() => codex?.add("not toml", command, LINUX)).toThrow(/not valid TOML/);
});

test("on macOS the program is in a folder of root's, which every shell finds in the line", async () => {
  const [, claude] = managed.find(([source]) => source === "claude-code") ?? [];
  const card = await findAgent("claude-code");
  if (claude === undefined || card === undefined) throw new Error("not found");
  const text = withHooks(
    { agent: card, managed: claude, path: "/x", text: undefined },
    { ...CONTEXT, platform: "darwin" },
  );
  const line: string = JSON.parse(text).hooks.SessionEnd[0].hooks[0].command;
  expect(line).toMatch(/^\[ ! -x '\/Library\/Application Support\/openhook-otel\/hook' \]/);
  expect(claude.registered(text)).toContain("SessionEnd");
  expect(execFileSync("sh", ["-c", line], { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" })).toBe("");
});

test.each(managed)(
  "%s: on Windows the line is one that every shell runs, with the program for all users",
  async (source, one) => {
    const card = await findAgent(source);
    if (card === undefined) throw new Error("not found");
    const path = one.path("win32") ?? "";
    const text = withHooks({ agent: card, managed: one, path, text: undefined }, { ...CONTEXT, platform: "win32" });
    const lines = [...text.matchAll(/"(node (?:[^"\\\n]|\\.)*)"/g)].map(([quoted]) => JSON.parse(quoted) as string);
    expect(lines.length).toBeGreaterThan(4);
    for (const line of lines) {
      expect(line).toContain("splice(1,0,'C:/Program Files/openhook-otel/hook.cjs')");
      expect(line).toMatch(/^node -e "[^"]+" -- --source [\w-]+ --drain [\w-]+.* ;exit 0 #openhook-otel& exit 0$/);
    }
    if (source === "codex") expect(text).toContain('windows_managed_dir = "C:\\\\Program Files\\\\openhook-otel"');
    if (source === "copilot") expect(text).toMatch(/"powershell": "node /);
  },
);

test("on Windows Node must be where only administrators can write", async () => {
  const problem = (nodePath: string) => unusableNode({ nodePath, programPath: "C:\\x.cjs", platform: "win32" });
  expect(await problem("C:\\Users\\ada\\AppData\\Roaming\\nvm\\v22.1.0\\node.exe")).toMatch(
    /^all users' hooks would start C:\\Users\S+node\.exe, but it .*; install Node for all users/,
  );
});

test("Node that other users cannot run is refused with the command to type", async () => {
  const folder = mkdtempSync(join(tmpdir(), "openhook-node-"));
  onTestFinished(() => removeFolder(folder));
  const nodePath = join(folder, "node");
  writeFileSync(nodePath, "", { mode: 0o700 });
  const problem = await unusableNode({ nodePath, programPath: "/opt/x.cjs", platform: "linux" });
  expect(problem).toMatch(/^all users' hooks would start \S+node, but .*; .*: \S+node \/opt\/x\.cjs enable --managed$/);
  expect(
    await unusableNode({ nodePath: join(folder, "gone"), programPath: "/opt/x.cjs", platform: "linux" }),
  ).toContain("does not exist");
});

test("names that --managed does not know are explained", async () => {
  const files = (name: string) => managedFiles([name], { platform: "linux" }, { list: allAgents, find: findAgent });
  await expect(files("clade")).rejects.toThrow(
    /^unknown agent "clade" \(did you mean claude-code\?\); agents with a place/,
  );
  await expect(files("goose")).rejects.toThrow(
    /^Goose documents no place .*each user must run openhook-otel enable goose;/,
  );
});
