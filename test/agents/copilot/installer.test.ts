import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import installer from "#agents/copilot/installer.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import type { HookCommand } from "#core/model/agent.ts";
import type { InstallTarget } from "#core/model/installer.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";

const command: HookCommand = ({ source, event, drain }) =>
  `[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook --drain ${drain} ${source} ${event}`;
const windows: HookCommand = ({ source, event, drain }) =>
  `node C:/openhook-otel/hook.cjs --source ${source} --drain ${drain} --event ${event} ;exit 0 #openhook-otel& exit 0`;
const target: InstallTarget = { home: "/home/dev", project: "/home/dev/acme-shop", env: {} };
const path = "/home/dev/.copilot/hooks/openhook-otel.json";

function add(
  text: string | undefined,
  version?: string,
  rest: Partial<{ target: InstallTarget; command: HookCommand }> = {},
) {
  const [after] = installer.add([{ path, text }], { scope: "user", target, command, version, ...rest });
  if (after?.text === undefined) throw new Error("no text");
  return after.text;
}
const remove = (text: string): string | undefined => installer.remove([{ path, text }])[0]?.text;
const registered = (text: string): readonly string[] => installer.registered([{ path, text }]);

const SINCE_0_0_422 = [
  "sessionStart",
  "userPromptSubmitted",
  "preToolUse",
  "postToolUse",
  "errorOccurred",
  "agentStop",
  "subagentStop",
  "sessionEnd",
];
const SINCE_1_0_7 = [...SINCE_0_0_422, "subagentStart"];
const SINCE_1_0_15 = [...SINCE_1_0_7, "postToolUseFailure"];
const SINCE_1_0_71 = [...SINCE_1_0_15, "UserPromptSubmit", "Stop"];

// Events by version, from the changelog of 1.0.102
test.each([
  ["0.0.422", SINCE_0_0_422],
  ["1.0.6", SINCE_0_0_422],
  ["1.0.7", SINCE_1_0_7],
  ["1.0.15", SINCE_1_0_15],
  ["1.0.70", SINCE_1_0_15],
  ["1.0.71", SINCE_1_0_71],
  ["1.0.102", SINCE_1_0_71],
  [undefined, SINCE_1_0_71],
  ["unparsable", SINCE_1_0_71],
])("events of %s", (version, events) => {
  expect([...registered(add(undefined, version))].sort()).toEqual([...events].sort());
});

describe("a registration", () => {
  const file = JSON.parse(add(undefined));

  test("has one command with a timeout per event, which names the event", () => {
    expect(file.version).toBe(1);
    for (const [event, list] of Object.entries<Record<string, unknown>[]>(file.hooks)) {
      expect(list).toHaveLength(1);
      expect(Object.keys(list[0] ?? {})).toEqual(["type", "bash", "timeoutSec"]);
      expect(list[0]?.["bash"]).toMatch(new RegExp(` copilot ${event}$`));
      expect(list[0]?.["timeoutSec"]).toBe(event === "sessionEnd" ? 10 : 5);
    }
  });
  test("starts a drain at ends, and at the start only if the inbox has files", () => {
    const drain = (event: string): string => /--drain (\S+)/.exec(file.hooks[event][0].bash)?.[1] ?? "";
    expect(Object.keys(file.hooks).filter((event) => drain(event) === "yes")).toEqual([
      "agentStop",
      "sessionEnd",
      "Stop",
    ]);
    expect(drain("sessionStart")).toBe("if-waiting");
  });
  test("does not deny a tool if the program is missing", () => {
    const line: string = file.hooks.preToolUse[0].bash;
    const home = "/nowhere";
    expect(() => execFileSync("bash", ["-c", line], { env: { HOME: home, PATH: "/usr/bin:/bin" } })).not.toThrow();
  });
  test.each([
    ["Stop", "1", ""],
    ["Stop", "", "ran"],
    ["UserPromptSubmit", "1", ""],
    ["UserPromptSubmit", "", "ran"],
    ["agentStop", "1", "ran"],
    ["agentStop", "", "ran"],
  ])("%s with COPILOT_CLI=%s: %s, because Copilot CLI runs both names and VS Code only one", (event, cli, result) => {
    const marks = add(undefined, undefined, { command: () => "exec printf ran #openhook-otel" });
    const line: string = JSON.parse(marks).hooks[event][0].bash;
    const env = { PATH: "/usr/bin:/bin", ...(cli !== "" && { COPILOT_CLI: cli }) };
    for (const shell of ["sh", "bash"]) expect(execFileSync(shell, ["-c", line], { env }).toString()).toBe(result);
    expect(registered(marks)).toContain(event);
  });
  test("uses PowerShell on Windows, and always exits with 0", () => {
    const text = add(undefined, undefined, { target: { ...target, env: { OS: "Windows_NT" } }, command: windows });
    const [entry] = JSON.parse(text).hooks.preToolUse;
    expect(Object.keys(entry)).toEqual(["type", "powershell", "timeoutSec"]);
    expect(entry.powershell).toMatch(/^node C:.* --event preToolUse ;exit 0 #/);
    const [stop] = JSON.parse(text).hooks.Stop;
    expect(stop.powershell).toMatch(/^if \(\$env:COPILOT_CLI\) \{ exit 0 \}; node C:.* --event Stop ;exit 0 #/);
    expect(registered(text)).toEqual(registered(add(undefined)));
    expect(remove(text)).toBeUndefined();
  });

  test("in a project's file has a line for each system", () => {
    const both: HookCommand = (options) => (options.system === "windows" ? windows(options) : command(options));
    const files = [{ path: "/home/dev/acme-shop/.github/hooks/openhook-otel.json", text: undefined }];
    const [after] = installer.add(files, { scope: "project", target, command: both, version: undefined });
    const { preToolUse, Stop } = JSON.parse(after?.text ?? "").hooks;
    expect(Object.keys(preToolUse[0])).toEqual(["type", "bash", "powershell", "timeoutSec"]);
    expect(Stop[0].bash).toMatch(/^\[ -z "\$COPILOT_CLI" \]\|\|exit 0;\[ ! -x ~\//);
    expect(Stop[0].powershell).toMatch(/^if \(\$env:COPILOT_CLI\) \{ exit 0 \}; node C:/);
    expect(installer.remove([{ path: files[0]?.path ?? "", text: after?.text }])[0]?.text).toBeUndefined();
  });
});

describe("adding and removing", () => {
  test("creates and removes our own file", () => {
    for (const before of [undefined, "", " \n", '{"version":1,"hooks":{}}']) {
      const text = add(before);
      expect(text).toBe(add(undefined));
      expect(add(text)).toBe(text);
      expect(remove(text)).toBeUndefined();
    }
  });
  test("keeps exactly the version's events on upgrade", () => {
    const old = add(undefined, "1.0.6");
    expect(add(old, "1.0.102")).toBe(add(undefined, "1.0.102"));
    expect(add(add(undefined, "1.0.102"), "1.0.6")).toBe(old);
  });
  test("replaces another version's command line", () => {
    const old = add(undefined).replaceAll(" --drain ", " --former ");
    expect(add(old)).toBe(add(undefined));
  });
  test("keeps other content byte for byte", () => {
    const event = fc.constantFrom("preToolUse", "sessionEnd", "notification", "PreToolUse");
    const entry = fc.record({ type: fc.constant("command"), bash: fc.string(), timeoutSec: fc.nat() });
    const foreign = fc.record(
      {
        version: fc.constant(1),
        description: fc.string(),
        hooks: fc.dictionary(event, fc.array(entry, { minLength: 1 }), { minKeys: 1, noNullPrototype: true }),
      },
      { requiredKeys: ["hooks"], noNullPrototype: true },
    );
    const version = fc.constantFrom("1.0.6", "1.0.102", undefined);
    fc.assert(
      fc.property(foreign, version, version, fc.constantFrom(0, 2, "\t"), (value, first, second, indent) => {
        const text = `${JSON.stringify(value, null, indent)}\n`;
        const added = add(add(text, first), second);
        expect(add(added, second)).toBe(added);
        expect([...registered(added)].sort()).toEqual([...registered(add(undefined, second))].sort());
        expect(remove(added)).toBe(text);
      }),
      { numRuns: runs(25) },
    );
  });
  test("keeps the user's comments and switches", () => {
    const text = '{\n  // mine\n  "version": 1,\n  "disableAllHooks": false\n}\n';
    const added = add(text);
    expect(added).toContain("// mine");
    expect(remove(added)).toBe(text);
  });
  test.each([
    ["{", /^line 1/],
    ["[]", /the top level is not an object/],
    ['{\n  "hooks": 1\n}', /^line 2, column 12: "hooks" is not an object/],
    ['{"hooks":{"preToolUse":{}}}', /"hooks\.preToolUse" is not an array/],
    ['{"hooks":{},"hooks":{}}', /duplicate key/],
  ])("rejects %s with line and column", (text, message) => {
    expect(() => add(text)).toThrow(SettingsError);
    expect(() => add(text)).toThrow(message);
    expect(registered(text)).toEqual([]);
  });
  test("leaves files without our hooks unchanged", () => {
    const text = '{"version":1,"hooks":{"preToolUse":[{"type":"command","bash":"./check.sh"}]}}';
    expect(remove(text)).toBe(text);
    expect(registered(text)).toEqual([]);
  });
});

describe.skipIf(process.platform === "win32")("on this machine", () => {
  let home = "";
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "openhook-copilot-"));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));
  const here = (env: InstallTarget["env"] = {}): InstallTarget => ({ home, project: join(home, "acme-shop"), env });

  test("puts files in the folders that Copilot reads", async () => {
    expect(await installer.paths("user", target)).toEqual([path]);
    const moved = { ...target, env: { COPILOT_HOME: "/data/copilot" } };
    expect(await installer.paths("user", moved)).toEqual(["/data/copilot/hooks/openhook-otel.json"]);
    expect(await installer.paths("user", { ...target, env: { COPILOT_HOME: "" } })).toEqual([path]);
    for (const one of [target, moved])
      expect(await installer.paths("project", one)).toEqual(["/home/dev/acme-shop/.github/hooks/openhook-otel.json"]);
  });
  test("detects the agent by its program or folder, and ignores another `copilot`", async () => {
    const PATH = `${home}:/usr/bin:/bin`;
    const program = async (output: string) => {
      await writeFile(join(home, "copilot"), `#!/bin/sh\n[ "$1" = --version ] && echo "${output}"\n`);
      await chmod(join(home, "copilot"), 0o755);
    };
    expect(await installer.detect(here({ PATH: "/none" }))).toEqual({ present: false });
    await program("copilot version: v1.34.1");
    expect(await installer.detect(here({ PATH }))).toEqual({ present: false });
    await program("GitHub Copilot CLI 1.0.102.");
    expect(await installer.detect(here({ PATH }))).toEqual({ present: true, version: "1.0.102" });
    await mkdir(join(home, ".copilot"));
    expect(await installer.detect(here({ PATH: "/none" }))).toEqual({ present: true });
  });
  test("reports an untrusted folder for a project's hooks, not for the user's", async () => {
    const check = async (scope: "user" | "project", config?: string) => {
      await mkdir(join(home, ".copilot"), { recursive: true });
      await rm(join(home, ".copilot", "config.json"), { force: true });
      if (config !== undefined) await writeFile(join(home, ".copilot", "config.json"), config);
      const [file = ""] = await installer.paths(scope, here());
      const found = await installer.check?.([{ path: file, text: add(undefined) }], here());
      return found?.map(({ level }) => level);
    };
    const trusting = (...folders: string[]) => `// managed\n${JSON.stringify({ trustedFolders: folders })}`;
    expect(await check("user")).toEqual([]);
    expect(await check("project")).toEqual(["broken"]);
    expect(await check("project", "not json")).toEqual(["broken"]);
    expect(await check("project", trusting("/elsewhere", join(home, "acme-shop-2")))).toEqual(["broken"]);
    expect(await check("project", trusting(join(home, "acme-shop")))).toEqual([]);
    expect(await check("project", trusting(home))).toEqual([]);
    expect(await check("project", JSON.stringify({ trusted_folders: [home] }))).toEqual([]);
  });
  test.each([".copilot/settings.json", ".copilot/config.json"])("mentions the switch in %s", async (file) => {
    await mkdir(dirname(join(home, file)), { recursive: true });
    await writeFile(join(home, file), '{"disableAllHooks": true}');
    const found = await installer.check?.([{ path, text: add(undefined) }], here());
    expect(found).toMatchObject([{ level: "remark", text: expect.stringContaining(join(home, file)) }]);
  });
  test.each([
    "acme-shop/.github/copilot/settings.json",
    "acme-shop/.github/copilot/settings.local.json",
    "acme-shop/.claude/settings.json",
    "acme-shop/.claude/settings.local.json",
  ])("reports that %s disables all hooks", async (file) => {
    await mkdir(dirname(join(home, file)), { recursive: true });
    await writeFile(join(home, file), '// mine\n{"disableAllHooks": true}');
    const found = await installer.check?.([{ path, text: add(undefined) }], here());
    const text = `hooks are switched off: "disableAllHooks" is true in ${join(home, file)}; remove it`;
    expect(found).toEqual([{ level: "broken", text }]);
  });
  test("reports a file that disables its hooks", async () => {
    const text = add('{"disableAllHooks": true}');
    const found = await installer.check?.([{ path, text }], here());
    expect(found).toMatchObject([{ level: "broken", text: expect.stringContaining("disableAllHooks") }]);
  });
});
