import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import installer from "#agents/gemini-cli/installer.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import type { HookCommand } from "#core/model/agent.ts";
import type { InstallTarget } from "#core/model/installer.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";

const command: HookCommand = ({ source, drain }) => `/opt/openhook-otel/hook --drain ${drain} ${source}`;
const target: InstallTarget = { home: "/home/dev", project: "/home/dev/acme-shop", env: {} };
const path = "/home/dev/.gemini/settings.json";

const add = (text: string | undefined, by: HookCommand = command): string => {
  const [file] = installer.add([{ path, text }], { scope: "user", target, command: by, version: undefined });
  return file?.text ?? "";
};
const remove = (text: string): string | undefined => installer.remove([{ path, text }])[0]?.text;

describe("registered events", () => {
  const hooks = JSON.parse(add(undefined)).hooks;

  it("has six events, none per chunk or with the whole conversation", () => {
    expect(Object.keys(hooks)).toEqual([
      "SessionStart",
      "BeforeAgent",
      "BeforeTool",
      "AfterTool",
      "AfterAgent",
      "SessionEnd",
    ]);
  });

  it("has one hook per event, for every tool, with a timeout in milliseconds", () => {
    for (const [event, groups] of Object.entries<Record<string, unknown>[]>(hooks)) {
      expect(groups, event).toHaveLength(1);
      expect(Object.keys(groups[0] ?? {})).toEqual(["hooks"]);
      expect(groups[0]?.["hooks"]).toEqual([
        expect.objectContaining({ type: "command", name: "openhook-otel", timeout: 5000 }),
      ]);
    }
  });

  it("starts a drain at the end of turns and sessions", () => {
    const drains = Object.entries<{ hooks: { command: string }[] }[]>(hooks).map(([event, groups]) => [
      event,
      /--drain (\S+)/.exec(groups[0]?.hooks[0]?.command ?? "")?.[1],
    ]);
    expect(Object.fromEntries(drains)).toEqual({
      SessionStart: "if-waiting",
      BeforeAgent: "no",
      BeforeTool: "no",
      AfterTool: "no",
      AfterAgent: "yes",
      SessionEnd: "yes",
    });
  });
});

describe("other settings", () => {
  it("survive adding and removing, byte for byte", () => {
    const event = fc.constantFrom("BeforeTool", "SessionEnd", "PreCompress", "BeforeModel");
    const group = fc.record({
      matcher: fc.string(),
      sequential: fc.boolean(),
      hooks: fc.array(fc.record({ command: fc.string() })),
    });
    const settings = fc.record(
      {
        general: fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true }),
        hooks: fc.dictionary(event, fc.array(group, { minLength: 1 }), { minKeys: 1, noNullPrototype: true }),
        hooksConfig: fc.jsonValue(),
      },
      { requiredKeys: ["general"], noNullPrototype: true },
    );
    fc.assert(
      fc.property(settings, fc.constantFrom("\n", "\r\n"), fc.constantFrom("\t", "  "), (value, eol, indent) => {
        const text = `${JSON.stringify(value, null, indent)}\n`.replaceAll("\n", eol);
        const added = add(text);
        expect(add(added)).toBe(added);
        expect(remove(added)).toBe(text);
      }),
      { numRuns: runs(100) },
    );
  });

  it("keep comments and members of older versions next to the events", () => {
    const text = `{
  // mine
  "hooks": {
    "enabled": true, /* on */
    "disabled": ["noisy"],
    "BeforeTool": [{ "matcher": "write_.*", "hooks": [{ "type": "command", "command": "./check.sh" }] }]
  }
}
`;
    const added = add(text);
    for (const part of ["// mine", "/* on */", '"disabled": ["noisy"]', "./check.sh"]) expect(added).toContain(part);
    expect(installer.registered([{ path, text: added }])).toHaveLength(6);
    expect(remove(added)).toBe(text);
  });

  it("that cannot be parsed are rejected with line and column", () => {
    expect(() => add('{\n  "hooks": 1\n}')).toThrow(SettingsError);
    expect(() => add('{"hooks": {"BeforeTool": {}}}')).toThrow(/"hooks.BeforeTool" is an object, not an array/);
  });
});

it("writes to the user's home, the project, or the agent's moved home", async () => {
  expect(await installer.paths("user", target)).toEqual([path]);
  expect(await installer.paths("project", target)).toEqual(["/home/dev/acme-shop/.gemini/settings.json"]);
  const moved = { ...target, env: { GEMINI_CLI_HOME: "/home/dev/work" } };
  expect(await installer.paths("user", moved)).toEqual(["/home/dev/work/.gemini/settings.json"]);
  expect(await installer.paths("user", { ...target, env: { GEMINI_CLI_HOME: "" } })).toEqual([path]);
});

describe.skipIf(process.platform === "win32")("on this machine", () => {
  let home = "";
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "openhook-gemini-"));
    await mkdir(join(home, ".gemini"));
    await mkdir(join(home, "acme-shop", ".gemini"), { recursive: true });
    await put(".gemini/trustedFolders.json", { [join(home, "acme-shop")]: "TRUST_FOLDER" });
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const put = (name: string, value: unknown) => writeFile(join(home, name), JSON.stringify(value));
  const program = async (version: string) => {
    await writeFile(join(home, "gemini"), `#!/bin/sh\necho ${version}\n`);
    await chmod(join(home, "gemini"), 0o755);
  };
  const here = (env: Record<string, string> = {}): InstallTarget => ({
    home,
    project: join(home, "acme-shop"),
    env: { PATH: `${home}:/usr/bin:/bin`, GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(home, "system.json"), ...env },
  });
  const check = async (scope: "user" | "project", env: Record<string, string> = {}) => {
    const [file = ""] = await installer.paths(scope, here(env));
    const findings = await installer.check?.([{ path: file, text: add(undefined) }], here(env));
    return findings?.map(({ level, text }) => `${level}: ${text.replaceAll(home, "~")}`);
  };

  it("detects the program or its folder", async () => {
    expect(await installer.detect(here())).toEqual({ present: false });
    await put(".gemini/settings.json", {});
    expect(await installer.detect(here())).toEqual({ present: true });
    await program("0.61.0");
    expect(await installer.detect(here())).toEqual({ present: true, version: "0.61.0" });
  });

  it("reports nothing if hooks work", async () => {
    await program("0.61.0");
    await put(".gemini/settings.json", { hooksConfig: { enabled: true, disabled: ["noisy"] } });
    expect(await check("user")).toEqual([]);
    expect(await check("project")).toEqual([]);
  });

  it("reports disabled hooks, from the file that takes precedence", async () => {
    await put(".gemini/settings.json", { hooksConfig: { enabled: false } });
    expect(await check("user")).toEqual([
      'broken: hooks are switched off: "hooksConfig.enabled" is false in ~/.gemini/settings.json; set it to true',
    ]);
    await put("acme-shop/.gemini/settings.json", { hooksConfig: { enabled: true } });
    expect(await check("user")).toEqual([]);
    await put("system.json", { hooksConfig: { enabled: false } });
    expect(await check("project")).toEqual([expect.stringContaining("~/system.json")]);
  });

  it("reports our hook if it is disabled by name or command line", async () => {
    for (const name of ["openhook-otel", command({ source: "gemini-cli", drain: "no" })]) {
      await put(".gemini/settings.json", { hooksConfig: { disabled: [name] } });
      expect(await check("user")).toEqual([expect.stringMatching(/^broken: our hook is in the list of disabled/)]);
    }
  });

  it("reports an untrusted folder, in which no hook runs, not even the user's", async () => {
    await put(".gemini/trustedFolders.json", { [home]: "TRUST_FOLDER", [join(home, "acme-shop")]: "DO_NOT_TRUST" });
    expect(await check("project")).toEqual([expect.stringMatching(/^broken: Gemini CLI does not trust ~\/acme-shop/)]);
    expect(await check("user")).toEqual([expect.stringMatching(/^remark: Gemini CLI does not trust/)]);
    await put(".gemini/trustedFolders.json", { [join(home, "other")]: "TRUST_PARENT" });
    expect(await check("project")).toEqual([]);
    await put(".gemini/trustedFolders.json", { [join(home, "acme")]: "TRUST_FOLDER" });
    expect(await check("project")).toEqual([expect.stringContaining("does not trust")]);
    // Trust not decided yet: no remark about the user's hooks
    expect(await check("user")).toEqual([]);
    expect(await check("project", { GEMINI_CLI_TRUST_WORKSPACE: "true" })).toEqual([]);
    await put(".gemini/settings.json", { security: { folderTrust: { enabled: false } } });
    expect(await check("project")).toEqual([]);
    // A project cannot trust itself
    await put(".gemini/settings.json", {});
    await put("acme-shop/.gemini/settings.json", { security: { folderTrust: { enabled: false } } });
    expect(await check("project")).toEqual([expect.stringContaining("does not trust")]);
  });

  it("reports versions in which hooks are experimental", async () => {
    await program("0.25.0");
    expect(await check("user")).toEqual([expect.stringMatching(/^broken: Gemini CLI 0.25.0 runs hooks only if/)]);
    await put(".gemini/settings.json", { hooks: { enabled: true } });
    expect(await check("user")).toEqual([]);
    await program("0.26.0");
    await put(".gemini/settings.json", { tools: { enableHooks: false } });
    expect(await check("user")).toEqual([expect.stringContaining('"tools.enableHooks" is false')]);
    await program("0.61.0");
    expect(await check("user")).toEqual([]);
  });

  it("survives settings that cannot be parsed", async () => {
    await writeFile(join(home, ".gemini", "settings.json"), "{ nonsense");
    await put(".gemini/trustedFolders.json", [1]);
    expect(await check("user")).toEqual([]);
  });
});
