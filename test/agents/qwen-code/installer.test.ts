import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import installer from "#agents/qwen-code/installer.ts";
import type { HookCommand } from "#core/model/agent.ts";
import type { InstallTarget } from "#core/model/installer.ts";

const command: HookCommand = ({ source, drain }) => `/opt/openhook-otel/hook --drain ${drain} ${source}`;
const path = "/home/dev/.qwen/settings.json";
const target: InstallTarget = { home: "/home/dev", project: "/home/dev/acme-shop", env: {} };
const add = (text: string | undefined): string =>
  installer.add([{ path, text }], { scope: "user", target, command, version: undefined })[0]?.text ?? "";
const remove = (text: string): string | undefined => installer.remove([{ path, text }])[0]?.text;

test("every registered event has one hook without a time limit, whose unit differs between versions", () => {
  const { hooks } = JSON.parse(add(undefined));
  for (const [event, groups] of Object.entries<{ hooks: unknown[] }[]>(hooks)) {
    expect(groups, event).toHaveLength(1);
    expect(groups[0]?.hooks).toEqual([{ type: "command", name: "openhook-otel", command: expect.any(String) }]);
  }
  expect(Object.keys(hooks)).not.toContain("MessageDisplay");
});

test.each([
  ["no file", undefined],
  ["other settings", '{\n  // mine\n  "model": { "name": "qwen3-max" }\n}\n'],
  ["other hooks", '{"hooks":{"enabled":true,"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}'],
])("%s: added once, removed byte for byte", (_, text) => {
  const once = add(text);
  expect(add(once)).toBe(once);
  expect(remove(once)).toBe(text);
});

test("QWEN_HOME moves the user's settings, not the project's", async () => {
  const moved = { ...target, env: { QWEN_HOME: "/q" } };
  expect(await installer.paths("user", moved)).toEqual(["/q/settings.json"]);
  expect(await installer.paths("project", moved)).toEqual(["/home/dev/acme-shop/.qwen/settings.json"]);
});

describe("why hooks do not run", () => {
  let home = "";
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "openhook-qwen-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
  const put = (file: string, value: unknown): void => {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), JSON.stringify(value));
  };
  const findings = async (scope: "user" | "project") => {
    const here = {
      home,
      project: join(home, "shop"),
      env: { QWEN_CODE_SYSTEM_SETTINGS_PATH: join(home, "none.json") },
    };
    const [file] = await installer.paths(scope, here);
    return (await installer.check?.([{ path: String(file), text: add(undefined) }], here))?.map(({ text }) => text);
  };

  test("no finding when nothing is wrong", async () => {
    expect([await findings("user"), await findings("project")]).toEqual([[], []]);
  });

  test("disableAllHooks is reported", async () => {
    put(".qwen/settings.json", { disableAllHooks: true });
    expect(await findings("user")).toEqual([expect.stringContaining("disableAllHooks")]);
  });

  test("an untrusted folder is reported, for the project's hooks only", async () => {
    put(".qwen/settings.json", { security: { folderTrust: { enabled: true } } });
    expect(await findings("user")).toEqual([]);
    expect(await findings("project")).toEqual([expect.stringContaining("does not trust")]);
    put(".qwen/trustedFolders.json", { [join(home, "shop")]: "TRUST_FOLDER" });
    expect(await findings("project")).toEqual([]);
  });
});
