import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import installer from "#agents/opencode/installer.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import type { HookCommand } from "#core/model/agent.ts";

const target = { home: "/home/dev", project: "/home/dev/acme", env: {} };
const path = "/home/dev/.config/opencode/plugins/openhook-otel.js";
const usual: HookCommand = ({ source }) =>
  `[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook ${source}`;

function add(text: string | undefined, command: HookCommand = usual): string {
  const [after] = installer.add([{ path, text }], { scope: "user", target, command, version: undefined });
  if (after?.text === undefined) throw new Error("no text");
  return after.text;
}

test("has one file in each scope", async () => {
  expect(await installer.paths("user", target)).toEqual([path]);
  expect(await installer.paths("user", { ...target, env: { XDG_CONFIG_HOME: "/etc/dev" } })).toEqual([
    "/etc/dev/opencode/plugins/openhook-otel.js",
  ]);
  expect(await installer.paths("project", target)).toEqual(["/home/dev/acme/.opencode/plugins/openhook-otel.js"]);
});

test("is added, added again, updated and removed", () => {
  const text = add(undefined);
  expect(text).toMatch(/^\/\/ openhook-otel plugin for OpenCode\n/);
  expect(add(text)).toBe(text);
  expect(add(`${text.split("\n")[0]}\n// of an earlier version\n`)).toBe(text);
  expect(add("  \n")).toBe(text);
  expect(installer.registered([{ path, text }])).toContain("tool.execute.before");
  expect(installer.remove([{ path, text }])).toEqual([{ path, text: undefined }]);
  expect(installer.registered([{ path, text: undefined }])).toEqual([]);
});

test("has the same text on every machine", () => {
  expect(add(undefined)).not.toMatch(/\/home\/|\/opt\/|\/work\/|\/tmp\//);
  expect(add(undefined)).toContain('INSTALLED_IN = "";');
});

test.each([
  ["[ ! -x '/srv/it'\\''s here/hook' ]||exec '/srv/it'\\''s here/hook' opencode", "/srv/it's here"],
  ["[ ! -x /srv/$&/hook ]||exec /srv/$&/hook opencode #openhook-otel", "/srv/$&"],
])("a program in another folder: %s", (line, folder) => {
  const text = add(undefined, () => line);
  expect(text).toContain(`INSTALLED_IN = ${JSON.stringify(folder)};`);
  expect(installer.remove([{ path, text }])).toEqual([{ path, text: undefined }]);
});

test("keeps another file of the same name", () => {
  const foreign = "export const Mine = async () => ({});\n";
  expect(() => add(foreign)).toThrow(SettingsError);
  expect(installer.remove([{ path, text: foreign }])).toEqual([{ path, text: foreign }]);
  expect(installer.registered([{ path, text: foreign }])).toEqual([]);
});

test("the agent is detected by its configuration", async () => {
  const home = mkdtempSync(join(tmpdir(), "openhook-opencode-"));
  try {
    const here = { home, project: home, env: { PATH: "/nowhere" } };
    expect(await installer.detect(here)).toEqual({ present: false });
    mkdirSync(join(home, ".config", "opencode"), { recursive: true });
    expect(await installer.detect(here)).toEqual({ present: true });
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  }
});
