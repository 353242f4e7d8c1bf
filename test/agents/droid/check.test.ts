import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { check } from "#agents/droid/check.ts";
import droid from "#agents/droid/installer.ts";
import type { HookCommand } from "#core/model/agent.ts";

const home = mkdtempSync(join(tmpdir(), "openhook-droid-policy-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const command: HookCommand = ({ source }) => `/usr/local/lib/openhook-otel/hook ${source}`;
const managed = join(home, "managed.json");

async function findings(settings: string, user = "{}"): Promise<readonly string[]> {
  const path = join(home, "settings.json");
  writeFileSync(managed, settings);
  writeFileSync(path, user);
  const target = { home, project: join(home, "shop"), env: {} };
  return (await check([{ path, text: user }], target, managed)).map(({ text }) => text);
}

test("an administrator's policy that keeps users' hooks from running is reported", async () => {
  const policy = '{\n  "allowManagedHooksOnly": true\n}\n';
  expect(await findings(policy)).toEqual([
    expect.stringMatching(/^users' hooks are switched off by "allowManagedHooksOnly" in .*enable --managed$/),
  ]);
  // Then ours are among the administrator's
  expect(
    await findings(
      droid.managed?.add(policy, command, { platform: "linux", programFolder: "/usr/local/lib/openhook-otel" }) ?? "",
    ),
  ).toEqual([]);
  expect(await findings("{}")).toEqual([]);
});

test("hooks that any of the files switches off are reported", async () => {
  const off = '{ "hooks": { "hooksDisabled": true } }';
  expect(await findings("{}", off)).toEqual([expect.stringMatching(/is true in .*\/settings\.json; remove it$/)]);
  expect(await findings(off)).toEqual([expect.stringMatching(/is true in .*\/managed\.json; remove it$/)]);
});

test("hooks in a file of their own that replace ours are reported, and no others", async () => {
  const target = { home, project: join(home, "shop"), env: {} };
  const settings = [{ path: join(home, "settings.json"), text: "{}" }];
  const [added] = droid.add(settings, { scope: "user", target, command, version: undefined });
  const ours = added?.text ?? "";
  const own = join(home, "hooks.json");
  const hook = [{ matcher: "*", hooks: [{ type: "command", command: "./own.sh" }] }];
  try {
    writeFileSync(own, JSON.stringify({ PreToolUse: hook, Notification: hook, Stop: [] }));
    expect(await findings("{}", ours)).toEqual([
      expect.stringMatching(/hooks\.json has hooks of PreToolUse, which replace those in .*; move its hooks into /),
    ]);
    writeFileSync(own, JSON.stringify({ Notification: hook }));
    expect(await findings("{}", ours)).toEqual([]);
  } finally {
    rmSync(own);
  }
});
