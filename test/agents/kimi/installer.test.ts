import { describe, expect, test } from "vitest";
import installer from "#agents/kimi/installer.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import { statementsOf } from "#agents/shared/settings/toml-statements.ts";
import type { HookCommand } from "#core/model/agent.ts";
import type { InstallTarget } from "#core/model/installer.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";

const command: HookCommand = ({ source, drain }) => `/opt/openhook-otel/hook --drain ${drain} ${source}`;
const path = "/home/dev/.kimi-code/config.toml";
const target: InstallTarget = { home: "/home/dev", project: "/home/dev/acme-shop", env: {} };
const add = (text: string | undefined, by: HookCommand = command): string =>
  installer.add([{ path, text }], { scope: "user", target, command: by, version: undefined })[0]?.text ?? "";
const remove = (text: string): string | undefined => installer.remove([{ path, text }])[0]?.text;
const MINE = `default_model = "kimi-k2" # mine

[[hooks]]
event = "Stop"
command = "say done"

[models.turbo]
model = "kimi-k2-turbo-preview"
`;

test("registers only documented events, because one unknown event switches all hooks off", () => {
  const events = installer.registered([{ path, text: add(undefined) }]);
  expect(events).toContain("UserPromptSubmit");
  for (const undocumented of ["TurnStarted", "TaskStarted", "UserPromptQueued", "SessionHeartbeat"])
    expect(events).not.toContain(undocumented);
});

test("no hook has a key that Kimi does not know, nor an output", () => {
  const keys = statementsOf(add(undefined)).flatMap((one) => (one.kind === "pair" ? [one.path[0]?.name] : []));
  expect([...new Set(keys)]).toEqual(["event", "command", "timeout"]);
});

describe("other settings", () => {
  test.each([
    ["no file", undefined],
    ["settings and hooks", MINE],
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

  test("other hooks after ours stay", () => {
    const after = '\n[[hooks]]\nevent = "Stop"\ncommand = "say done"\n';
    expect(remove(`${add(MINE)}${after}`)).toBe(`${MINE}${after}`);
  });

  test("ours are replaced when the command changes, also without their comment", () => {
    const other: HookCommand = ({ source, drain }) => `/usr/lib/openhook-otel/hook --drain ${drain} ${source}`;
    const changed = add(add(MINE), other);
    expect(changed).toBe(add(MINE, other));
    const rewritten = add(MINE).replace(/^# openhook-otel.*\n/m, "");
    expect(installer.registered([{ path, text: add(rewritten, other) }])).toHaveLength(10);
    expect(add(rewritten, other)).not.toContain("/opt/");
  });

  test("a file of any lines is restored byte for byte", () => {
    const line = fc.constantFrom("", "# a comment", "[a.b]", "x = 1", '[[hooks]]\nevent = "Stop"\ncommand = "true"');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), fc.boolean(), (lines, ends) => {
        const text = `${lines.map((one, at) => one.replace("x", `x${at}`).replace("a.b", `a.b${at}`)).join("\n")}${ends ? "\n" : ""}`;
        if (text.trim() === "") return;
        expect(remove(add(text))).toBe(text);
      }),
      { numRuns: runs(200) },
    );
  });

  test.each(["x = ", 'hooks = [{ event = "Stop", command = "true" }]'])("%o is refused", (text) => {
    expect(() => add(text)).toThrow(SettingsError);
  });
});

test("reports unknown keys, with which no hook runs, and unknown events", async () => {
  const findings = async (more: string) =>
    (await installer.check?.([{ path, text: `${add(MINE)}${more}` }], target))?.map(({ level }) => level);
  expect(await findings("")).toEqual([]);
  expect(await findings('\n[[hooks]]\nevent = "Stop"\ncommand = "true"\nname = "x"\n')).toEqual(["broken"]);
  expect(await findings('\n[[hooks]]\nevent = "Stopped"\ncommand = "true"\n')).toEqual(["remark"]);
  expect(await findings("\n[[hooks]\n")).toEqual([]);
});

test("KIMI_CODE_HOME moves the settings; there are none of projects", async () => {
  expect(installer.scopes).toEqual(["user"]);
  expect(await installer.paths("user", { ...target, env: { KIMI_CODE_HOME: "/k" } })).toEqual(["/k/config.toml"]);
});
