import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import installer from "#agents/claude-code/installer.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import type { HookCommand } from "#core/model/agent.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";

const command: HookCommand = ({ source, drain }) => `/opt/openhook-otel/hook --drain ${drain} ${source}`;
const target = { home: "/home/dev", project: "/home/dev/acme", env: {} };
const path = "/home/dev/.claude/settings.json";

/** The settings file with our registrations for a version. */
function add(text: string | undefined, version: string | undefined): string {
  const [after] = installer.add([{ path, text }], { scope: "user", target, command, version });
  if (after?.text === undefined) throw new Error("no text");
  return after.text;
}
const remove = (text: string): string | undefined => installer.remove([{ path, text }])[0]?.text;
const registered = (text: string): readonly string[] => installer.registered([{ path, text }]);

// Read from each version's program on 2026-11-21
const SINCE_1_0_80 = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStop"];
const BASE = [...SINCE_1_0_80, "SessionEnd"];
const SINCE_2_0_55 = [...BASE, "SubagentStart"];
const SINCE_2_0_77 = [...SINCE_2_0_55, "PostToolUseFailure"];
const SINCE_2_1_80 = [...SINCE_2_0_77, "StopFailure"];

describe("events by version", () => {
  it.each<[string | undefined, readonly string[]]>([
    ["1.0.12", SINCE_1_0_80],
    ["1.0.80", SINCE_1_0_80],
    ["1.0.128", BASE],
    ["2.0.0", BASE],
    ["2.0.42", BASE],
    ["2.0.55", SINCE_2_0_55],
    ["2.0.77", SINCE_2_0_77],
    ["2.1.29", SINCE_2_0_77],
    ["2.1.80", SINCE_2_1_80],
    ["2.1.100", SINCE_2_1_80],
    ["2.1.197", SINCE_2_1_80],
    ["2.1.329", SINCE_2_1_80],
    ["3.0.0", SINCE_2_1_80],
    ["10.2.0-beta.1", SINCE_2_1_80],
    [undefined, BASE],
    ["unparsable", BASE],
  ])("%s", (version, events) => {
    expect([...registered(add(undefined, version))].sort()).toEqual([...events].sort());
  });

  it("removes an old PreCompact hook: /compact shows its output to the user and the model", () => {
    const older = JSON.stringify({ hooks: { PreCompact: JSON.parse(add(undefined, "2.1.329")).hooks.SessionEnd } });
    expect(registered(older)).toEqual(["PreCompact"]);
    expect(registered(add(older, "2.1.329"))).not.toContain("PreCompact");
  });

  it("upgrades and downgrades keep exactly the version's events", () => {
    const old = add(undefined, "2.0.77");
    const upgraded = add(old, "2.1.329");
    expect(registered(upgraded)).toHaveLength(SINCE_2_1_80.length);
    expect([...registered(add(upgraded, "2.0.42"))].sort()).toEqual([...BASE].sort());
  });
});

describe("the form of a registration", () => {
  const hooks = JSON.parse(add(undefined, "2.1.329")).hooks;

  it("is a plain hook with a timeout, never async", () => {
    for (const [event, groups] of Object.entries<{ hooks: Record<string, unknown>[] }[]>(hooks)) {
      expect(groups, event).toHaveLength(1);
      expect(groups[0]?.hooks).toHaveLength(1);
      expect(Object.keys(groups[0]?.hooks[0] ?? {})).toEqual(["type", "command", "timeout"]);
    }
    expect(hooks.SessionEnd[0].hooks[0].timeout).toBe(10);
    expect(hooks.PreToolUse[0].hooks[0].timeout).toBe(5);
  });

  it("has a matcher if the event takes one", () => {
    const matched = Object.keys(hooks).filter((event) => hooks[event][0].matcher === "*");
    expect(matched.sort()).toEqual(["PostToolUse", "PostToolUseFailure", "PreToolUse", "SessionEnd", "SessionStart"]);
    for (const event of ["Stop", "UserPromptSubmit", "StopFailure"])
      expect(hooks[event][0]).not.toHaveProperty("matcher");
  });

  it("starts a drain at ends, and at the start only if the inbox has files", () => {
    const drains = Object.fromEntries(
      Object.keys(hooks).map((event) => [event, /--drain (\S+)/.exec(hooks[event][0].hooks[0].command)?.[1]]),
    );
    expect(
      Object.keys(drains)
        .filter((event) => drains[event] === "yes")
        .sort(),
    ).toEqual(["SessionEnd", "Stop", "StopFailure"]);
    expect(drains["SessionStart"]).toBe("if-waiting");
    expect(drains["PreToolUse"]).toBe("no");
  });

  it("never uses an event that disturbs the agent", () => {
    for (const event of ["WorktreeCreate", "MessageDisplay", "Notification", "PostToolBatch"])
      expect(hooks).not.toHaveProperty(event);
  });
});

describe("any foreign settings", () => {
  it("survive adding, upgrading and removing", () => {
    const version = fc.constantFrom("2.0.0", "2.0.77", "2.1.80", "2.1.329", undefined);
    const event = fc.constantFrom("PreToolUse", "SessionEnd", "Notification", "PostToolBatch");
    const group = fc.record({ matcher: fc.string(), hooks: fc.array(fc.record({ command: fc.string() })) });
    const settings = fc.record(
      {
        env: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
        hooks: fc.dictionary(event, fc.array(group, { minLength: 1 }), { minKeys: 1, noNullPrototype: true }),
        permissions: fc.jsonValue(),
      },
      { requiredKeys: ["env"], noNullPrototype: true },
    );
    fc.assert(
      fc.property(settings, version, version, (value, first, second) => {
        const text = `${JSON.stringify(value, null, 2)}\n`;
        const added = add(add(text, first), second);
        expect(add(added, second)).toBe(added);
        expect(remove(added)).toBe(text);
      }),
      { numRuns: runs(100) },
    );
  });

  it("that cannot be parsed are rejected with line and column", () => {
    expect(() => add('{\n  "hooks": 1\n}', undefined)).toThrow(SettingsError);
    expect(() => add('{\n  "hooks": 1\n}', undefined)).toThrow(/^line 2, column 12: "hooks" is a number/);
  });
});

describe("the settings path", () => {
  it("depends on the scope and CLAUDE_CONFIG_DIR", async () => {
    expect(await installer.paths("user", target)).toEqual([path]);
    expect(await installer.paths("project", target)).toEqual(["/home/dev/acme/.claude/settings.json"]);
    const moved = { ...target, env: { CLAUDE_CONFIG_DIR: "/home/dev/work-claude" } };
    expect(await installer.paths("user", moved)).toEqual(["/home/dev/work-claude/settings.json"]);
    expect(await installer.paths("project", moved)).toEqual(["/home/dev/acme/.claude/settings.json"]);
    expect(await installer.paths("user", { ...target, env: { CLAUDE_CONFIG_DIR: "" } })).toEqual([path]);
  });
});

describe.skipIf(process.platform === "win32")("the agent on this machine", () => {
  let bin = "";
  beforeAll(async () => {
    bin = await mkdtemp(join(tmpdir(), "openhook-claude-"));
  });
  afterAll(() => rm(bin, { recursive: true, force: true }));

  const detect = (PATH: string) => installer.detect({ home: bin, project: bin, env: { PATH } });
  const withProgram = async (script: string) => {
    await writeFile(join(bin, "claude"), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, "claude"), 0o755);
    return (await detect(`${bin}:/usr/bin:/bin`)).version;
  };

  it("has the version that `claude --version` prints", async () => {
    expect(await withProgram('[ "$1" = --version ] && echo "2.1.329 (Claude Code)"')).toBe("2.1.329");
  });
  it("is detected by its settings folder without a program", async () => {
    expect(await detect(join(bin, "none"))).toEqual({ present: false });
    await mkdir(join(bin, ".claude"));
    expect(await detect(join(bin, "none"))).toEqual({ present: true });
    await withProgram("echo 2.1.329");
    expect(await detect(`${bin}:/usr/bin:/bin`)).toEqual({ present: true, version: "2.1.329" });
  });
  it("has no known version if the program is missing, fails or prints nothing", async () => {
    expect((await detect(join(bin, "none"))).version).toBeUndefined();
    expect(await withProgram("echo 2.1.329; exit 1")).toBeUndefined();
    expect(await withProgram("echo hello")).toBeUndefined();
  });
  it("has no known version if the program hangs or a child keeps its output open", async () => {
    const begin = Date.now();
    expect(await withProgram("sleep 20 & wait")).toBeUndefined();
    expect(Date.now() - begin).toBeLessThan(12_000);
  });
  it("does not wait for a program that reads its input", async () => {
    expect(await withProgram("cat >/dev/null; echo 2.0.77")).toBe("2.0.77");
  });
});
