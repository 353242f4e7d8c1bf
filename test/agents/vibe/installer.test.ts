import { describe, expect, test } from "vitest";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import { statementsOf } from "#agents/shared/settings/toml-statements.ts";
import installer from "#agents/vibe/installer.ts";
import type { HookCommand } from "#core/model/agent.ts";
import type { InstallTarget } from "#core/model/installer.ts";

const command: HookCommand = ({ source, drain }) => `/opt/openhook-otel/hook --drain ${drain} ${source}`;
const path = "/home/dev/.vibe/hooks.toml";
const target: InstallTarget = { home: "/home/dev", project: "/home/dev/acme-shop", env: {} };
const add = (text: string | undefined, by: HookCommand = command): string =>
  installer.add([{ path, text }], { scope: "user", target, command: by, version: undefined })[0]?.text ?? "";
const remove = (text: string): string | undefined => installer.remove([{ path, text }])[0]?.text;
const MINE = `# mine
[[hooks]]
name = "lint"
type = "post_agent" # after each turn
command = "eslint --quiet ."
`;

test("has one file for the user, which VIBE_HOME moves, and one for each project", async () => {
  const pathIn = (scope: "user" | "project", env = {}) => installer.paths(scope, { ...target, env });
  expect(await pathIn("user")).toEqual([path]);
  expect(await pathIn("project")).toEqual(["/home/dev/acme-shop/.vibe/hooks.toml"]);
  expect(await pathIn("user", { VIBE_HOME: "/srv/vibe" })).toEqual(["/srv/vibe/hooks.toml"]);
});

test("registers every type of hook, each with a name, and writes no key that Vibe does not know", () => {
  expect(installer.registered([{ path, text: add(undefined) }])).toEqual(["pre_tool", "post_tool", "post_agent"]);
  const pairs = statementsOf(add(undefined)).flatMap((one) => (one.kind === "pair" ? [one] : []));
  expect([...new Set(pairs.map((one) => one.path[0]?.name))]).toEqual(["name", "type", "command", "timeout"]);
  const names = pairs.flatMap((one) => (one.path[0]?.name === "name" ? [one.value] : []));
  expect(new Set(names).size).toBe(3);
});

describe("other hooks", () => {
  test.each([
    ["no file", undefined],
    ["a hook", MINE],
    ["without a line break at the end", MINE.trimEnd()],
    ["Windows line breaks", MINE.replaceAll("\n", "\r\n")],
    ["an empty line at the end", `${MINE}\n`],
    ["a byte order mark", `\uFEFF${MINE}`],
  ])("%s: added once, removed byte for byte", (_, text) => {
    const once = add(text);
    expect(add(once)).toBe(once);
    expect(once.startsWith(text ?? "")).toBe(true);
    expect(remove(once)).toBe(text);
  });

  test("stay in the file that had ours before", () => {
    const other: HookCommand = ({ source, drain }) => `/usr/lib/openhook-otel/hook --drain ${drain} ${source}`;
    expect(add(add(MINE), other)).toBe(add(MINE, other));
    expect(remove(MINE)).toBe(MINE);
  });

  test("a file that is no TOML is left alone", () => {
    expect(() => add("[[hooks\n")).toThrow(SettingsError);
    expect(installer.registered([{ path, text: "[[hooks\n" }])).toEqual([]);
  });
});
