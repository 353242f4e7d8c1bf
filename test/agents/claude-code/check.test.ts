import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { check } from "../../../src/agents/claude-code/check.ts";

let home: string;
const put = async (path: string, settings: unknown): Promise<void> => {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), typeof settings === "string" ? settings : JSON.stringify(settings));
};
const problems = async (env: Readonly<Record<string, string>> = {}, ...paths: readonly string[]) => {
  const files = paths.map((path) => ({ path: join(home, path), text: undefined }));
  const found = await check(files, { home, project: join(home, "acme-shop"), env }, join(home, "managed"));
  return found.map(({ level, text }) => `${level}: ${text.replaceAll(home, "~")}`);
};

beforeEach(async () => {
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
    const ours = { Stop: [{ hooks: [{ type: "command", command: "/usr/local/lib/openhook-otel/hook claude-code" }] }] };
    await put("managed/managed-settings.d/openhook-otel.json", { hooks: ours });
    await put(".claude/settings.json", { disableAllHooks: true });
    await put("managed/managed-settings.json", { allowManagedHooksOnly: true });
    expect(await problems()).toEqual([]);
    await put("managed/managed-settings.json", { disableAllHooks: true });
    expect(await problems()).toEqual([
      expect.stringContaining('"disableAllHooks" is true in ~/managed/managed-settings'),
    ]);
  });

  it("reports a downloaded policy that replaces the administrator's files", async () => {
    const ours = { Stop: [{ hooks: [{ type: "command", command: "/usr/local/lib/openhook-otel/hook claude-code" }] }] };
    const path = "managed/managed-settings.d/openhook-otel.json";
    await put(path, { hooks: ours });
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
    await put(".claude/remote-settings.json", { hooks: ours });
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
