import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { check } from "#agents/claude-code/check.ts";
import { type SystemPolicies, systemPolicies } from "#agents/claude-code/system-policy.ts";

let home: string;
const put = async (path: string, settings: unknown): Promise<void> => {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), typeof settings === "string" ? settings : JSON.stringify(settings));
};
const OUR_HOOKS = {
  Stop: [{ hooks: [{ type: "command", command: "/usr/local/lib/openhook-otel/hook claude-code" }] }],
};

let system: SystemPolicies;
const problems = async (env: Readonly<Record<string, string>> = {}, ...paths: readonly string[]) => {
  const files = paths.map((path) => ({ path: join(home, path), text: undefined }));
  const sources = { folder: join(home, "managed"), system: async () => system };
  const found = await check(files, { home, project: join(home, "acme-shop"), env }, sources);
  return found.map(({ level, text }) => `${level}: ${text.replaceAll(home, "~")}`);
};

beforeEach(async () => {
  system = { administrator: undefined, user: undefined };
  home = await mkdtemp(join(tmpdir(), "openhook-claude-check-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

// Verified with the real 2.1.329
describe("settings that keep Claude Code from running hooks", () => {
  it("reports nothing without such settings, or if files are unreadable", async () => {
    expect(await problems()).toEqual([]);
    await put(".claude/settings.json", "{");
    await put("managed/managed-settings.json", { model: "opus", disableAllHooks: false, allowManagedHooksOnly: false });
    await put("managed/managed-settings.d/10-other.json", { strictPluginOnlyCustomization: ["skills"] });
    expect(await problems()).toEqual([]);
  });

  it.each([
    ".claude/settings.json",
    "acme-shop/.claude/settings.json",
    "acme-shop/.claude/settings.local.json",
    "managed/managed-settings.json",
    ".claude/remote-settings.json",
  ])("reports disableAllHooks in %s", async (path) => {
    await put(path, { disableAllHooks: true });
    expect(await problems()).toEqual([
      `broken: hooks are switched off: "disableAllHooks" is true in ~/${path}; remove it`,
    ]);
  });

  it("reports the organisation's policy that allows only its own hooks", async () => {
    await put(".claude/remote-settings.json", { allowManagedHooksOnly: true });
    expect(await problems()).toEqual([
      expect.stringContaining(
        'users\' hooks are switched off by "allowManagedHooksOnly" in ~/.claude/remote-settings.json',
      ),
    ]);
  });

  it("reports only the administrator's disableAllHooks if our hooks are among the administrator's", async () => {
    await put("managed/managed-settings.d/openhook-otel.json", { hooks: OUR_HOOKS });
    await put(".claude/settings.json", { disableAllHooks: true });
    await put("managed/managed-settings.json", { allowManagedHooksOnly: true });
    expect(await problems()).toEqual([]);
    await put("managed/managed-settings.json", { disableAllHooks: true });
    expect(await problems()).toEqual([
      expect.stringContaining('"disableAllHooks" is true in ~/managed/managed-settings'),
    ]);
  });

  it("reports a downloaded policy that replaces the administrator's files", async () => {
    const path = "managed/managed-settings.d/openhook-otel.json";
    await put(path, { hooks: OUR_HOOKS });
    await put("managed/managed-settings.json", { allowManagedHooksOnly: true });
    await put(".claude/remote-settings.json", { managedSourcesBehavior: "first-wins" });
    expect(await problems({}, path)).toEqual([]);
    await put(".claude/remote-settings.json", { model: "opus" });
    expect(await problems({}, path)).toEqual([
      `broken: Claude Code reads only ~/.claude/remote-settings.json, not the hooks for all users in ~/${path}; ` +
        'the organisation must add them there, or set "managedSourcesBehavior" to "merge" there (since 2.1.242)',
    ]);
    // The users' own hooks run then, because the file's lock is not read either
    expect(await problems()).toEqual([]);
    await put(".claude/remote-settings.json", { model: "opus", managedSourcesBehavior: "merge" });
    expect(await problems({}, path)).toEqual([]);
    await put(".claude/remote-settings.json", { hooks: OUR_HOOKS });
    expect(await problems()).toEqual([]);
  });

  it("uses the file with the highest precedence that sets disableAllHooks", async () => {
    await put(".claude/settings.json", { disableAllHooks: true });
    await put("acme-shop/.claude/settings.local.json", { disableAllHooks: false });
    expect(await problems()).toEqual([]);
    await put("managed/managed-settings.d/20-hooks.json", { disableAllHooks: true });
    expect(await problems()).toEqual([expect.stringContaining("~/managed/managed-settings.d/20-hooks.json")]);
  });

  it("reads the user's file in CLAUDE_CONFIG_DIR", async () => {
    await put("moved/settings.json", { disableAllHooks: true });
    expect(await problems()).toEqual([]);
    expect(await problems({ CLAUDE_CONFIG_DIR: join(home, "moved") })).toEqual([expect.stringContaining("~/moved/")]);
  });

  it.each([
    { allowManagedHooksOnly: true },
    { strictPluginOnlyCustomization: true },
    { strictPluginOnlyCustomization: ["skills", "hooks"] },
  ])("reports %o in managed settings only", async (settings) => {
    await put(".claude/settings.json", settings);
    expect(await problems()).toEqual([]);
    await put("managed/managed-settings.d/10-hooks.json", settings);
    expect(await problems()).toEqual([
      `broken: users' hooks are switched off by "${Object.keys(settings)[0]}" in ~/managed/managed-settings.d/10-hooks.json; ` +
        "ask the administrator of ~/managed/managed-settings.d to remove it, or to run enable --managed",
    ]);
  });
});

describe("policies of the system", () => {
  const MACHINE = "HKLM\\SOFTWARE\\Policies\\ClaudeCode";
  const USER = "HKCU\\SOFTWARE\\Policies\\ClaudeCode";
  const inMachine = (settings: Readonly<Record<string, unknown>> | undefined) => ({
    administrator: { path: MACHINE, settings, isUsers: false },
    user: undefined,
  });
  const inUser = (settings: Readonly<Record<string, unknown>>) => ({
    administrator: undefined,
    user: { path: USER, settings, isUsers: true },
  });
  const file = "managed/managed-settings.d/openhook-otel.json";

  it("can allow only an administrator's hooks, and say how ours get there", async () => {
    system = inMachine({ allowManagedHooksOnly: true });
    expect(await problems()).toEqual([
      `broken: users' hooks are switched off by "allowManagedHooksOnly" in ${MACHINE}; ` +
        "ask the administrator to remove it, or to add there what enable --managed --print shows",
    ]);
    system = inMachine({ allowManagedHooksOnly: true, managedSourcesBehavior: "merge" });
    expect(await problems()).toEqual([expect.stringMatching(/to remove it, or to run enable --managed$/)]);
    system = inMachine({ disableAllHooks: true });
    expect(await problems()).toEqual([
      `broken: hooks are switched off: "disableAllHooks" is true in ${MACHINE}; remove it`,
    ]);
  });

  it("replace the administrator's files, and are replaced by a downloaded policy", async () => {
    await put(file, { hooks: OUR_HOOKS });
    system = inMachine({ model: "opus" });
    expect(await problems({}, file)).toEqual([
      expect.stringContaining(`Claude Code reads only ${MACHINE}, not the hooks for all users in ~/${file}`),
    ]);
    system = inMachine({ model: "opus", managedSourcesBehavior: "merge" });
    expect(await problems({}, file)).toEqual([]);
    system = inMachine({ hooks: OUR_HOOKS, allowManagedHooksOnly: true });
    expect(await problems()).toEqual([]);
    system = inMachine({ allowManagedHooksOnly: true });
    await put(".claude/remote-settings.json", { model: "opus" });
    expect(await problems()).toEqual([]);
  });

  it("count for the user's own key only if there is no other policy", async () => {
    system = inUser({ allowManagedHooksOnly: true });
    expect(await problems()).toEqual([
      `broken: users' hooks are switched off by "allowManagedHooksOnly" in ${USER}; ` +
        "remove it, or ask the administrator to run enable --managed",
    ]);
    await put(file, { hooks: OUR_HOOKS });
    expect(await problems({}, file)).toEqual([]);
    await put(file, { model: "opus" });
    expect(await problems()).toEqual([]);
  });

  it("are named if they cannot be read", async () => {
    system = inMachine(undefined);
    expect(await problems()).toEqual([
      `remark: the policy in ${MACHINE} could not be read, so it is unknown whether it switches hooks off`,
    ]);
  });
});

describe("where the system keeps policies", () => {
  const env = { SystemRoot: "D:\\Windows" };
  /** Answers as reg.exe does; a key that is not given is an error. */
  const registry = (answers: Readonly<Record<string, string>>, asked: string[] = []) => {
    return async (program: string, args: readonly string[]) => {
      asked.push(`${program} ${args.join(" ")}`);
      const answer = answers[args.slice(1).join(" ")];
      if (answer === undefined) throw new Error("exit code 1");
      return answer;
    };
  };
  const KEYS = "HKLM\\SOFTWARE\\Policies";
  const LISTED =
    "\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\ClaudeCode\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\Mozilla\r\n";
  const VALUE = `${KEYS}\\ClaudeCode /v Settings`;

  it("is Windows' registry, read with its own program", async () => {
    const asked: string[] = [];
    const value = '{\r\n  "allowManagedHooksOnly": true\r\n}';
    const text = `\r\nHKEY_LOCAL_MACHINE\\SOFTWARE\\Policies\\ClaudeCode\r\n    Settings    REG_SZ    ${value}\r\n\r\n`;
    const found = await systemPolicies("win32", env, registry({ [KEYS]: LISTED, [VALUE]: text }, asked));
    expect(found).toEqual({
      administrator: { path: `${KEYS}\\ClaudeCode`, settings: { allowManagedHooksOnly: true }, isUsers: false },
      user: undefined,
    });
    expect(asked.map((line) => line.split(" ")[0])).toEqual(asked.map(() => "D:\\Windows\\System32\\reg.exe"));
  });

  it.each([
    ["no value", undefined],
    ["another type", "    Settings    REG_DWORD    0x1\r\n"],
    ["no JSON", "    Settings    REG_SZ    {\r\n"],
  ])("is unknown if the key has %s", async (_, answer) => {
    const answers = { [KEYS]: LISTED, ...(answer !== undefined && { [VALUE]: answer }) };
    const { administrator } = await systemPolicies("win32", env, registry(answers));
    expect(administrator).toEqual({ path: `${KEYS}\\ClaudeCode`, settings: undefined, isUsers: false });
  });

  it("has none if Windows has no such key, or no policies at all", async () => {
    const others = LISTED.replace("ClaudeCode", "ClaudeCodeOther");
    for (const answers of [{ [KEYS]: others }, {}])
      expect(await systemPolicies("win32", env, registry(answers))).toEqual({
        administrator: undefined,
        user: undefined,
      });
  });

  it("is a file of macOS' managed preferences, the user's before the machine's", async () => {
    const machine = "/Library/Managed Preferences/com.anthropic.claudecode.plist";
    const own = `/Library/Managed Preferences/${userInfo().username}/com.anthropic.claudecode.plist`;
    const plutil = async (program: string, args: readonly string[]) => {
      expect([program, ...args.slice(0, -1)]).toEqual(["/usr/bin/plutil", "-convert", "json", "-o", "-", "--"]);
      return JSON.stringify({ disableAllHooks: args.at(-1) === own });
    };
    const on = (files: readonly string[]) =>
      systemPolicies("darwin", {}, plutil, (path) => files.includes(path)).then(({ administrator }) => administrator);
    expect(await on([])).toBeUndefined();
    expect(await on([machine])).toEqual({ path: machine, settings: { disableAllHooks: false }, isUsers: false });
    expect(await on([machine, own])).toMatchObject({ path: own, settings: { disableAllHooks: true } });
    const failing = () => Promise.reject(new Error("invalid object in plist for destination format"));
    const { administrator } = await systemPolicies("darwin", {}, failing, () => true);
    expect(administrator).toMatchObject({ path: own, settings: undefined });
  });

  it("does not exist on Linux", async () => {
    const never = () => Promise.reject(new Error("nothing is started"));
    expect(await systemPolicies("linux", {}, never)).toEqual({ administrator: undefined, user: undefined });
  });
});
