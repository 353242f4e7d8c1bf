import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import installer from "#agents/crush/installer.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import type { HookCommand } from "#core/model/agent.ts";

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "openhook-crush-"));
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

const command: HookCommand = ({ source, drain }) =>
  `[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook ${drain} ${source}`;
const target = () => ({ home: "/home/dev", project, env: {} });
const registration = () => ({ scope: "user" as const, target: target(), command, version: undefined });
const add = (text: string | undefined) => installer.add([{ path: "crush.json", text }], registration())[0]?.text ?? "";
const remove = (text: string) => installer.remove([{ path: "crush.json", text }])[0]?.text;

test("registers the only event that Crush sends, with a drain some seconds later", () => {
  const settings = JSON.parse(add(undefined)) as { hooks: Record<string, object[]> };
  expect(Object.keys(settings.hooks)).toEqual(["PreToolUse"]);
  expect(settings.hooks["PreToolUse"]).toEqual([
    { name: "openhook-otel", command: command({ source: "crush", drain: "soon" }), timeout: 5 },
  ]);
  expect(installer.registered([{ path: "crush.json", text: add(undefined) }])).toEqual(["PreToolUse"]);
});

test.each([
  '{\n  "$schema": "https://charm.land/crush.json",\n  "options": {"debug": true}\n}\n',
  '{"hooks": {"PreToolUse": [{"command": "./mine.sh", "matcher": "^bash$"}]}}',
  '{"hooks":{"Other":[{"command":"x"}]},\t"lsp":{}}',
  '\uFEFF{ "models": {} }',
])("removal restores the user's file byte for byte: %j", (text) => {
  const added = add(text);
  expect(add(added)).toBe(added);
  expect(remove(added)).toBe(text);
});

test("a file that only we wrote is removed, one without our hook is not touched", () => {
  expect(remove(add(undefined))).toBeUndefined();
  expect(remove('{"hooks":{}}')).toBe('{"hooks":{}}');
  expect(() => add("{")).toThrow(SettingsError);
  expect(() => add('{"hooks":{"PreToolUse":{}}}')).toThrow(SettingsError);
});

test("the user's file follows Crush's variables, the project's keeps the name in use", async () => {
  const paths = (scope: "user" | "project", env = {}) => installer.paths(scope, { ...target(), env });
  expect(await paths("user")).toEqual(["/home/dev/.config/crush/crush.json"]);
  expect(await paths("user", { XDG_CONFIG_HOME: "/etc/x" })).toEqual(["/etc/x/crush/crush.json"]);
  expect(await paths("user", { CRUSH_GLOBAL_CONFIG: "/etc/y" })).toEqual(["/etc/y/crush.json"]);
  expect(await paths("project")).toEqual([join(project, "crush.json")]);
  writeFileSync(join(project, ".crush.json"), "{}");
  expect(await paths("project")).toEqual([join(project, ".crush.json")]);
  writeFileSync(join(project, "crush.json"), "{}");
  expect(await paths("project")).toEqual([join(project, "crush.json")]);
});

test("Crush is present if its folder is", async () => {
  const home = join(project, "home");
  const env = { PATH: "" };
  expect(await installer.detect({ home, project, env })).toEqual({ present: false });
  mkdirSync(join(home, ".config", "crush"), { recursive: true });
  expect(await installer.detect({ home, project, env })).toEqual({ present: true });
});
