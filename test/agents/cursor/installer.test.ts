import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import installer from "#agents/cursor/installer.ts";
import { replyOf } from "#agents/replies.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import type { HookCommand } from "#core/model/agent.ts";
import type { Registration } from "#core/model/installer.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";

const command: HookCommand = ({ source, reply, drain }) =>
  `[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook ${drain} ${source} '' '${reply ?? ""}'`;
const target = { home: "/home/dev", project: "/home/dev/acme-shop", env: {} };
const registration: Registration = { scope: "user", target, command, version: undefined };
const PATH = "/home/dev/.cursor/hooks.json";

const add = (text: string | undefined, how: HookCommand = command): string =>
  installer.add([{ path: PATH, text }], { ...registration, command: how })[0]?.text ?? "";
const remove = (text: string): string | undefined => installer.remove([{ path: PATH, text }])[0]?.text;
const registered = (text: string): readonly string[] => installer.registered([{ path: PATH, text }]);

// All versions of 2026 know these names; Cursor ignores a file with any other name
const EVENTS = [
  "beforeSubmitPrompt",
  "postToolUse",
  "postToolUseFailure",
  "preCompact",
  "preToolUse",
  "sessionEnd",
  "sessionStart",
  "stop",
  "subagentStart",
  "subagentStop",
];

describe("the form of a registration", () => {
  const file = JSON.parse(add(undefined));

  it("is version 1 with flat lists of event names that Cursor knows", () => {
    expect(Object.keys(file)).toEqual(["version", "hooks"]);
    expect(file.version).toBe(1);
    expect(Object.keys(file.hooks).sort()).toEqual(EVENTS);
    for (const [event, list] of Object.entries<Record<string, unknown>[]>(file.hooks)) {
      expect(list, event).toHaveLength(1);
      expect(Object.keys(list[0] ?? {})).toEqual(["command", "timeout"]);
    }
  });

  it("replies {} to every event, and contains no URL", () => {
    for (const [event, [entry]] of Object.entries<[{ command: string }]>(file.hooks)) {
      expect(entry.command, event).toContain(`'${replyOf("cursor", event)}'`);
      expect(entry.command).toContain("'{}'");
      expect(entry.command).not.toMatch(/https?:/);
    }
  });

  it("starts a drain at ends, and at a start only if the inbox has files", () => {
    const drains = Object.entries<[{ command: string }]>(file.hooks).map(([event, [entry]]) => [
      event,
      /exec \S+ (\S+)/.exec(entry.command)?.[1],
    ]);
    expect(Object.fromEntries(drains)).toMatchObject({ stop: "yes", sessionEnd: "yes", sessionStart: "if-waiting" });
    expect(drains.filter(([, drain]) => drain === "yes")).toHaveLength(2);
  });
});

describe("any other file", () => {
  const unknown = fc.string({ minLength: 1 }).filter((name) => name !== "__proto__");
  const event = fc.constantFrom(...EVENTS, "afterFileEdit", "beforeShellExecution");
  const entry = fc.record(
    { command: fc.constantFrom("./audit.sh", "node x.js", "echo '{}'"), timeout: fc.nat(), matcher: fc.string() },
    { requiredKeys: ["command"], noNullPrototype: true },
  );
  const file = fc.record(
    {
      version: fc.constant(1),
      hooks: fc.dictionary(event, fc.array(entry, { minLength: 1, maxLength: 3 }), {
        minKeys: 1,
        noNullPrototype: true,
      }),
      $schema: fc.string(),
      other: fc.dictionary(unknown, fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true }),
    },
    { requiredKeys: ["other"], noNullPrototype: true },
  );
  const form = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => `${text}\n`,
    (text) => text.replaceAll("\n", "\r\n"),
    (text) => `\uFEFF${text}\n`,
    (text) => `// of our team\n${text}\n/* the end */\n`,
    (text) => text.replace(/^\{/, "{ // first"),
  );
  const indent = fc.constantFrom<string | number>(2, 4, "\t", 0);

  it("survives adding, adding with another command, and removing, byte for byte", () => {
    const other: HookCommand = (options) => `${command(options)} #openhook-otel`;
    fc.assert(
      fc.property(file, indent, form, (value, spaces, as) => {
        const json = JSON.stringify(value, null, spaces);
        // A line comment extends to the end of its line
        fc.pre(json.includes("\n") || !as("{}").includes("// first"));
        const text = as(json);
        const added = add(add(text, other));
        expect(add(added)).toBe(added);
        expect([...registered(added)].sort()).toEqual(EVENTS);
        expect(remove(added)).toBe(text);
      }),
      { numRuns: runs(60) },
    );
  });

  it("that is missing, blank or an empty object is deleted after removal", () => {
    for (const text of [undefined, "", "\n", "{}", "{\n}\n"]) expect(remove(add(text)), text).toBeUndefined();
    expect(add("{}")).toContain('"version":');
  });

  it("that cannot be parsed is rejected with line and column", () => {
    expect(() => add('{\n  "hooks": []\n}')).toThrow(SettingsError);
    expect(() => add('{\n  "hooks": []\n}')).toThrow(/^line 2, column 12: "hooks" is not an object;/);
    expect(() => add('{"hooks": {"stop": {}}}')).toThrow(/"hooks\.stop" is not an array/);
    expect(() => add('{"hooks": {}, "hooks": {}}')).toThrow(/duplicate key/);
    expect(() => add("{")).toThrow(/not valid JSON/);
    expect(registered("{")).toEqual([]);
  });

  it("with our hook twice keeps one, in its place", () => {
    const once = add('{"version": 1, "hooks": {"stop": [{"command": "./a.sh"}]}}');
    const file = JSON.parse(once);
    file.hooks.stop.push(file.hooks.stop[1], { command: "./b.sh" });
    const deduplicated = JSON.parse(add(JSON.stringify(file)));
    expect(deduplicated.hooks.stop.map((one: { command: string }) => one.command.slice(0, 6))).toEqual([
      "./a.sh",
      "[ ! -x",
      "./b.sh",
    ]);
  });
});

describe("problems for doctor", () => {
  const check = async (text: string) => (await installer.check?.([{ path: PATH, text }], target)) ?? [];

  it("are none if hooks work or none is registered", async () => {
    expect(await check(add('{"version":1,"hooks":{"afterFileEdit":[{"command":"./a.sh"}]}}'))).toEqual([]);
    expect(await check('{"version":1,"hooks":{"notification":[{"command":"./a.sh"}]}}')).toEqual([]);
    expect(await check("{")).toEqual([]);
  });

  it("include a name or a URL for which Cursor ignores the file", async () => {
    const [unknown] = await check(add('{"version":1,"hooks":{"notification":[{"command":"./a.sh"}]}}'));
    expect(unknown).toMatchObject({ level: "broken" });
    expect(unknown?.text).toContain('"notification"');
    const [address] = await check(add('{"version":1,"hooks":{"stop":[{"command":"curl http://127.0.0.1:1/x"}]}}'));
    expect(address?.text).toContain("for stop");
    expect(address?.text).not.toContain("127.0.0.1");
  });
});

it("has one file for the user and one for each project", async () => {
  expect(await installer.paths("user", target)).toEqual([PATH]);
  expect(await installer.paths("project", target)).toEqual(["/home/dev/acme-shop/.cursor/hooks.json"]);
});

describe.skipIf(process.platform === "win32")("detection", () => {
  let home = "";
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "openhook-cursor-"));
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  it("finds the program with its version, otherwise the agent's folder", async () => {
    const at = { home, project: home, env: { PATH: home } };
    expect(await installer.detect(at)).toEqual({ present: false });
    await mkdir(join(home, ".cursor"));
    expect(await installer.detect(at)).toEqual({ present: true });
    await writeFile(join(home, "cursor-agent"), "#!/bin/sh\necho 2026.07.20-8cc9c0b\n");
    await chmod(join(home, "cursor-agent"), 0o755);
    expect(await installer.detect(at)).toEqual({ present: true, version: "2026.07.20" });
  });
});
