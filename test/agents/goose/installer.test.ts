import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import installer from "#agents/goose/installer.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import type { HookCommand } from "#core/model/agent.ts";
import type { SettingsText } from "#core/model/installer.ts";

const target = { home: "/home/dev", project: "/home/dev/acme-shop", env: {} };
const command: HookCommand = ({ source, drain }) =>
  `[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook ${drain} ${source}`;
const registration = { scope: "user" as const, target, command, version: undefined };
const files = (hooks?: string, description?: string): readonly SettingsText[] => [
  { path: "plugin.json", text: description },
  { path: "hooks/hooks.json", text: hooks },
];
const texts = (of: readonly SettingsText[]) => of.map(({ text }) => text);

test("the plugin is a folder in the user's or the project's plugins", async () => {
  expect(await installer.paths("user", target)).toEqual([
    "/home/dev/.agents/plugins/openhook-otel/plugin.json",
    "/home/dev/.agents/plugins/openhook-otel/hooks/hooks.json",
  ]);
  expect((await installer.paths("project", target))[0]).toBe(
    "/home/dev/acme-shop/.agents/plugins/openhook-otel/plugin.json",
  );
});

test("registers what is needed once, without a matcher, and is removed completely", () => {
  const added = installer.add(files(), registration);
  expect(JSON.parse(added[0]?.text ?? "")).toMatchObject({ name: "openhook-otel" });
  const { hooks } = JSON.parse(added[1]?.text ?? "") as { hooks: Record<string, object[]> };
  expect(Object.keys(hooks)).toEqual(installer.registered(added));
  expect(Object.keys(hooks)).not.toContain("AfterShellExecution");
  expect(hooks["Stop"]).toEqual([
    { hooks: [{ type: "command", command: command({ source: "goose", drain: "yes" }), timeout: 5 }] },
  ]);
  expect(texts(installer.add(added, registration))).toEqual(texts(added));
  expect(texts(installer.remove(added))).toEqual([undefined, undefined]);
});

test("hooks and a description of the user in that folder are kept byte for byte", () => {
  const own = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}]}}\n';
  const description = '{"name":"openhook-otel","version":"2"}';
  const added = installer.add(files(own, description), registration);
  expect(added[0]?.text).toBe(description);
  expect(texts(installer.remove(added))).toEqual([description, own]);
  const withDescription = installer.add(files(own), registration);
  expect(installer.remove(withDescription)[0]?.text).toBe(withDescription[0]?.text);
  expect(texts(installer.remove(files(own, description)))).toEqual([description, own]);
  expect(() => installer.add(files("{"), registration)).toThrow(SettingsError);
  expect(installer.registered(files("{"))).toEqual([]);
});

test("Goose is present if its folder is", async () => {
  const home = mkdtempSync(join(tmpdir(), "openhook-goose-"));
  const env = { PATH: "" };
  expect(await installer.detect({ ...target, home, env })).toEqual({ present: false });
  mkdirSync(join(home, ".config", "goose"), { recursive: true });
  expect(await installer.detect({ ...target, home, env })).toEqual({ present: true });
  rmSync(home, { recursive: true });
});
