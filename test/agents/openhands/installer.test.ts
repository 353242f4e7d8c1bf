import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import installer from "#agents/openhands/installer.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import type { HookCommand } from "#core/model/agent.ts";
import type { SettingsText } from "#core/model/installer.ts";

const target = { home: "/home/dev", project: "/home/dev/acme-shop", env: {} };
const command: HookCommand = ({ source, drain }) =>
  `[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook ${drain} ${source}`;
const registration = { scope: "user" as const, target, command, version: undefined };
const file = (text: string | undefined): readonly SettingsText[] => [{ path: "hooks.json", text }];
const textOf = ([one]: readonly SettingsText[]) => one?.text;
const add = (text?: string) => textOf(installer.add(file(text), registration));
const remove = (text: string | undefined) => textOf(installer.remove(file(text)));
const parsed = (text: string | undefined) => JSON.parse(text ?? "") as Record<string, Record<string, unknown>>;

const EVENTS = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];

test("one file per scope, with the six events and no other: OpenHands refuses a file with a name that it does not know", async () => {
  expect(await installer.paths("user", target)).toEqual(["/home/dev/.openhands/hooks.json"]);
  expect(await installer.paths("project", target)).toEqual(["/home/dev/acme-shop/.openhands/hooks.json"]);
  const added = add();
  expect(Object.keys(parsed(added)["hooks"] ?? {})).toEqual(EVENTS);
  expect(parsed(added)["hooks"]?.["Stop"]).toEqual([
    { hooks: [{ type: "command", command: command({ source: "openhands", drain: "yes" }), timeout: 5 }] },
  ]);
  expect(installer.registered(file(added))).toEqual(EVENTS);
  expect(add(added)).toBe(added);
  expect(remove(added)).toBeUndefined();
});

const OWN = [
  ['with "hooks"', '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}]}}\n'],
  [
    "in snake case",
    '{\n  "hooks": {\n    "pre_tool_use": [{"matcher": "terminal", "hooks": [{"command": "./a.sh"}]}]\n  }\n}\n',
  ],
  [
    "events alone",
    '{\n  "pre_tool_use": [\n    {\n      "hooks": [\n        {\n          "command": "./a.sh"\n        }\n      ]\n    }\n  ]\n}',
  ],
  ["events alone, with a byte order mark", '\uFEFF{"SessionStart": [{"hooks": [{"command": "./a.sh"}]}]}'],
] as const;

describe.each(OWN)("a file of the user's, %s", (_, own) => {
  test("keeps its form and its names, and is restored byte for byte", () => {
    const added = add(own);
    const root = parsed(added?.replace("\uFEFF", ""));
    const events = root["hooks"] ?? root;
    expect(Object.keys(root).includes("hooks")).toBe(own.includes('"hooks": {'));
    const names = Object.keys(events).map((name) => name.replace(/(?!^)[A-Z]/g, "_$&").toLowerCase());
    expect(new Set(names).size).toBe(EVENTS.length);
    expect(names).toHaveLength(EVENTS.length);
    expect([...installer.registered(file(added))].sort()).toEqual([...EVENTS].sort());
    expect(add(added)).toBe(added);
    expect(remove(added)).toBe(own);
  });
});

test("a file that cannot be read is left alone", () => {
  expect(() => add("{")).toThrow(SettingsError);
  expect(() => add('{"hooks": []}')).toThrow(SettingsError);
  expect(installer.registered(file("{"))).toEqual([]);
});

describe("what keeps the hooks from running", () => {
  let home: string;
  let at: { readonly home: string; readonly project: string; readonly env: Record<string, string> };
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "openhook-openhands-"));
    at = { home, project: join(home, "acme-shop"), env: { PATH: "" } };
    for (const folder of [home, at.project]) mkdirSync(join(folder, ".openhands"), { recursive: true });
  });
  afterEach(() => rmSync(home, { recursive: true }));
  const check = async (path: string, text: string | undefined) => installer.check?.([{ path, text }], at);

  test("an unknown event, or one under both names", async () => {
    const unknown = '{"hooks": {"Stop": [], "SubagentStop": []}}';
    expect(await check("hooks.json", unknown)).toMatchObject(
      [{ level: "broken", text: /"SubagentStop"/ }].map(withText),
    );
    const twice = '{"pre_tool_use": [], "PreToolUse": []}';
    expect(await check("hooks.json", twice)).toMatchObject([{ level: "broken", text: /"PreToolUse"/ }].map(withText));
    expect(await check("hooks.json", add())).toEqual([]);
  });

  test("the project's file replaces the user's", async () => {
    const [user] = await installer.paths("user", at);
    const [project] = await installer.paths("project", at);
    writeFileSync(project ?? "", '{"stop": [{"hooks": [{"command": "./a.sh"}]}]}');
    expect(await check(user ?? "", add())).toMatchObject([{ level: "broken", text: /--scope project/ }].map(withText));
    writeFileSync(project ?? "", add() ?? "");
    expect(await check(user ?? "", add())).toEqual([]);
    writeFileSync(user ?? "", '{"stop": [{"hooks": [{"command": "./a.sh"}]}]}');
    expect(await check(project ?? "", add())).toMatchObject([{ level: "remark", text: /replaces/ }].map(withText));
  });

  test("OpenHands is detected by its conversations", async () => {
    expect(await installer.detect(at)).toEqual({ present: false });
    mkdirSync(join(home, ".openhands", "conversations"));
    expect(await installer.detect(at)).toEqual({ present: true });
  });
});

const withText = ({ level, text }: { readonly level: string; readonly text: RegExp }) => ({
  level,
  text: expect.stringMatching(text),
});
