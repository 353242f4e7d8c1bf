import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import installer from "#agents/openhook/installer.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import type { HookCommand } from "#core/model/agent.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";

const command: HookCommand = ({ source, drain }) => `/opt/openhook-otel/hook${drain === "yes" ? " -d" : ""} ${source}`;
const project = mkdtempSync(join(tmpdir(), "openhook-project-"));
const target = { home: "/home/dev", project, env: {} };
const path = join(project, ".openhook.json");
afterAll(() => rmSync(project, { recursive: true, force: true, maxRetries: 10 }));

const registration = { scope: "project", target, command, version: undefined } as const;
const add = (text: string | undefined): string => installer.add([{ path, text }], registration)[0]?.text ?? "";
const remove = (text: string): string | undefined => installer.remove([{ path, text }])[0]?.text;

describe("the discovery file", () => {
  it("is only in the project's root", async () => {
    expect(installer.scopes).toEqual(["project"]);
    expect(await installer.paths("project", target)).toEqual([path]);
  });
  it("registers us for all events, without blocking the sender", () => {
    expect(JSON.parse(add(undefined))).toEqual({
      openhook: "0.1",
      hooks: [
        { command: "/opt/openhook-otel/hook openhook", events: ["*"], async: true },
        { command: "/opt/openhook-otel/hook -d openhook", events: ["session.end"], async: true },
      ],
    });
    expect(installer.registered([{ path, text: add(undefined) }])).toEqual(["*", "session.end"]);
    expect(remove(add(undefined))).toBeUndefined();
  });
  it("keeps a file in which the user has a member without hooks", () => {
    expect(remove(add('{ "openhook": "0.1", "note": "mine" }\n'))).toContain('"note": "mine"');
    expect(remove(add('{ "openhook": "0.1", "hooks": [] }\n'))).toBeUndefined();
  });
  it("keeps other hooks, their order and every byte of them", () => {
    const text = '{\n\t"openhook": "0.1", // ours\n\t"hooks": [\n\t\t{ "command": "notify" } // mine\n\t]\n}\n';
    const added = add(text);
    expect(added).toContain('{ "command": "notify" }, // mine\n');
    expect(add(added)).toBe(added);
    expect(remove(added)).toBe(text);
  });
  it("replaces an older registration in its place", () => {
    const old =
      '{"openhook":"0.1","hooks":[{"command":"/opt/openhook-otel/hook openhook","async":false},{"command":"x"}]}';
    const hooks = JSON.parse(add(old)).hooks;
    expect(hooks.map((hook: { command: string }) => hook.command)).toEqual([
      "/opt/openhook-otel/hook openhook",
      "x",
      "/opt/openhook-otel/hook -d openhook",
    ]);
    expect(hooks[0].async).toBe(true);
    expect(remove(add(old))).toBe('{"openhook":"0.1","hooks":[{"command":"x"}]}');
  });
  it("of any content survives adding twice and removing", () => {
    const hook = fc.record({ command: fc.string(), events: fc.array(fc.string()), async: fc.boolean() });
    const file = fc.record(
      { openhook: fc.constant("0.1"), hooks: fc.array(hook, { minLength: 1 }), extensions: fc.jsonValue() },
      { requiredKeys: ["openhook", "hooks"], noNullPrototype: true },
    );
    fc.assert(
      fc.property(file, fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const added = add(text);
        expect(add(added)).toBe(added);
        expect(remove(added)).toBe(text);
      }),
      { numRuns: runs(150) },
    );
  });
  it("of another format is rejected with line and column", () => {
    expect(() => add('{\n  "hooks": {}\n}')).toThrow(/^line 2, column 12: "hooks" is not a list/);
    expect(() => add("[]")).toThrow(SettingsError);
    expect(() => add('{"hooks": [], "hooks": []}')).toThrow(/a second time/);
    expect(() => remove("{")).toThrow(SettingsError);
    expect(installer.registered([{ path, text: "{" }])).toEqual([]);
  });
});

it("reports a version that senders may ignore; a project that has the file counts as present", async () => {
  const check = async (text: string) => (await installer.check?.([{ path, text }], target)) ?? [];
  expect(await check(add(undefined))).toEqual([]);
  expect(await check('{"openhook":"0.7","hooks":[]}')).toMatchObject([{ level: "remark" }]);
  expect(await check('{"hooks":[]}')).toMatchObject([{ text: expect.stringMatching(/no OpenHook version/) }]);
  expect(await installer.detect(target)).toEqual({ present: false });
  writeFileSync(path, add(undefined));
  expect(await installer.detect(target)).toEqual({ present: true });
});
