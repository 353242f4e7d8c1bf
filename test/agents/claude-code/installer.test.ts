import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import installer from "../../../src/agents/claude-code/installer.ts";
import { SettingsError } from "../../../src/agents/shared/settings.ts";
import type { HookCommand } from "../../../src/model/agent.ts";

const command: HookCommand = ({ source, drain }) => `/opt/openhook-otel/hook --drain ${drain} ${source}`;

// Read from each version's program on 2026-11-21
const SINCE_1_0_80 = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "Stop",
  "SubagentStop",
  "PreCompact",
];
const BASE = [...SINCE_1_0_80, "SessionEnd"];
const SINCE_2_0_55 = [...BASE, "SubagentStart"];
const SINCE_2_0_77 = [...SINCE_2_0_55, "PostToolUseFailure"];
const SINCE_2_1_80 = [...SINCE_2_0_77, "StopFailure"];
const SINCE_2_1_197 = [...SINCE_2_1_80, "PostToolBatch"];

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
    ["2.1.197", SINCE_2_1_197],
    ["2.1.329", SINCE_2_1_197],
    ["3.0.0", SINCE_2_1_197],
    ["10.2.0-beta.1", SINCE_2_1_197],
    [undefined, BASE],
    ["who knows", BASE],
  ])("%s", (version, events) => {
    expect([...installer.registered(installer.add(undefined, command, version))].sort()).toEqual([...events].sort());
  });

  it("an upgrade and a downgrade keep exactly what the version knows", () => {
    const old = installer.add(undefined, command, "2.0.77");
    const upgraded = installer.add(old, command, "2.1.329");
    expect(installer.registered(upgraded)).toHaveLength(SINCE_2_1_197.length);
    expect([...installer.registered(installer.add(upgraded, command, "2.0.42"))].sort()).toEqual([...BASE].sort());
  });
});

describe("the form of a registration", () => {
  const hooks = JSON.parse(installer.add(undefined, command, "2.1.329")).hooks;

  it("is a plain hook with a bounded time, never async", () => {
    for (const [event, groups] of Object.entries<{ hooks: Record<string, unknown>[] }[]>(hooks)) {
      expect(groups, event).toHaveLength(1);
      expect(groups[0]?.hooks).toHaveLength(1);
      expect(Object.keys(groups[0]?.hooks[0] ?? {})).toEqual(["type", "command", "timeout"]);
    }
    expect(hooks.SessionEnd[0].hooks[0].timeout).toBe(10);
    expect(hooks.PreToolUse[0].hooks[0].timeout).toBe(5);
  });

  it("has a matcher where the event takes one", () => {
    const matched = Object.keys(hooks).filter((event) => hooks[event][0].matcher === "*");
    expect(matched.sort()).toEqual([
      "PostToolUse",
      "PostToolUseFailure",
      "PreCompact",
      "PreToolUse",
      "SessionEnd",
      "SessionStart",
    ]);
    for (const event of ["Stop", "UserPromptSubmit", "PostToolBatch"])
      expect(hooks[event][0]).not.toHaveProperty("matcher");
  });

  it("starts a drain at ends, and at the start only if files wait", () => {
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

  it("is never one of the events that harm", () => {
    for (const event of ["WorktreeCreate", "MessageDisplay", "Notification"]) expect(hooks).not.toHaveProperty(event);
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
        const added = installer.add(installer.add(text, command, first), command, second);
        expect(installer.add(added, command, second)).toBe(added);
        expect(installer.remove(added)).toBe(text);
      }),
      { numRuns: 100 },
    );
  });

  it("that cannot be read are refused with a place", () => {
    expect(() => installer.add('{\n  "hooks": 1\n}', command, undefined)).toThrow(SettingsError);
    expect(() => installer.add('{\n  "hooks": 1\n}', command, undefined)).toThrow(
      /^line 2, column 12: "hooks" is a number/,
    );
  });
});

describe("where the settings lie", () => {
  const target = { home: "/home/dev", project: "/home/dev/acme", env: {} };
  it("user, project, moved", () => {
    expect(installer.path("user", target)).toBe("/home/dev/.claude/settings.json");
    expect(installer.path("project", target)).toBe("/home/dev/acme/.claude/settings.json");
    const moved = { ...target, env: { CLAUDE_CONFIG_DIR: "/home/dev/work-claude" } };
    expect(installer.path("user", moved)).toBe("/home/dev/work-claude/settings.json");
    expect(installer.path("project", moved)).toBe("/home/dev/acme/.claude/settings.json");
    expect(installer.path("user", { ...target, env: { CLAUDE_CONFIG_DIR: "" } })).toBe(
      "/home/dev/.claude/settings.json",
    );
  });
});

describe.skipIf(process.platform === "win32")("the installed version", () => {
  let bin = "";
  beforeAll(async () => {
    bin = await mkdtemp(join(tmpdir(), "openhook-claude-"));
  });
  afterAll(() => rm(bin, { recursive: true, force: true }));

  const withProgram = async (script: string) => {
    await writeFile(join(bin, "claude"), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, "claude"), 0o755);
    return installer.detectVersion({ PATH: `${bin}:/usr/bin:/bin` });
  };

  it("is what `claude --version` says", async () => {
    expect(await withProgram('[ "$1" = --version ] && echo "2.1.329 (Claude Code)"')).toBe("2.1.329");
  });
  it("is unknown without a program, with a failing one, with one that says nothing", async () => {
    expect(await installer.detectVersion({ PATH: join(bin, "none") })).toBeUndefined();
    expect(await withProgram("echo 2.1.329; exit 1")).toBeUndefined();
    expect(await withProgram("echo hello")).toBeUndefined();
  });
  it("is unknown when the program hangs, and even when a child of it holds its output", async () => {
    const begin = Date.now();
    expect(await withProgram("sleep 20 & wait")).toBeUndefined();
    expect(Date.now() - begin).toBeLessThan(12_000);
  });
  it("does not wait for a program that reads its input", async () => {
    expect(await withProgram("cat >/dev/null; echo 2.0.77")).toBe("2.0.77");
  });
});
