import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { check } from "#agents/codex/check.ts";
import codex from "#agents/codex/installer.ts";
import type { HookCommand } from "#core/model/agent.ts";

const home = mkdtempSync(join(tmpdir(), "openhook-codex-policy-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const command: HookCommand = ({ source }) => `~/.local/share/openhook-otel/hook ${source}`;

async function findings(requirements: string): Promise<readonly string[]> {
  const target = { home, project: join(home, "shop"), env: {} };
  const paths = await codex.paths("user", target);
  const files = codex.add(
    paths.map((path) => ({ path, text: undefined })),
    { scope: "user", target, version: "0.169.0", command },
  );
  const path = join(home, "requirements.toml");
  writeFileSync(path, requirements);
  return (await check(files, target, path)).map(({ text }) => text);
}

test("an administrator's policy that keeps users' hooks from running is reported", async () => {
  expect(await findings("allow_managed_hooks_only = true\n")).toEqual([
    expect.stringMatching(/switched off by allow_managed_hooks_only in .*requirements\.toml.*enable --managed$/),
  ]);
  expect(await findings("[features]\nhooks = false\n")).toEqual([expect.stringMatching(/all hooks are switched off/)]);
});

test("such a policy is not reported if our hooks are among the administrator's", async () => {
  const managed =
    codex.managed?.add("allow_managed_hooks_only = true\n", command, {
      platform: "linux",
      programFolder: "/usr/local/lib/openhook-otel",
    }) ?? "";
  expect(await findings(managed)).toEqual([]);
  expect(await findings("allow_managed_hooks_only = false\n")).toEqual([]);
});

test("a policy that keeps the administrator's own hooks from running is reported", async () => {
  const target = { home, project: join(home, "shop"), env: {} };
  const path = join(home, "requirements.toml");
  writeFileSync(
    path,
    codex.managed?.add("[features]\nhooks = false\n", command, {
      platform: "linux",
      programFolder: "/usr/local/lib/openhook-otel",
    }) ?? "",
  );
  const [finding, ...others] = await check([{ path, text: undefined }], target, path);
  expect(finding?.text).toMatch(/all hooks are switched off by hooks = false/);
  expect(others).toEqual([]);
});
