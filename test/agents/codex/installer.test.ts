import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseTOML } from "toml-eslint-parser";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hookStates } from "#agents/codex/config.ts";
import installer from "#agents/codex/installer.ts";
import { handlersOf, trustHash } from "#agents/codex/trust.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import { readToml } from "#agents/shared/settings/toml-reader.ts";
import type { HookCommand } from "#core/model/agent.ts";
import type { InstallTarget, SettingsText } from "#core/model/installer.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";

const HOME = "/home/dev";
const CONFIG = `${HOME}/.codex/config.toml`;
const HOOKS = `${HOME}/.codex/hooks.json`;
const target: InstallTarget = { home: HOME, project: `${HOME}/acme-shop`, env: {} };
const flags = { yes: " -d", "if-waiting": " -w", soon: " -s", no: "" } as const;
const command: HookCommand = ({ source, drain }) =>
  `h=~/.local/share/openhook-otel/hook;[ ! -x "$h" ]||exec "$h"${flags[drain]} ${source}`;
const EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PostModelRequest",
  "PreToolUse",
  "PostToolUse",
  "PreCompact",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "Interrupt",
  "SessionEnd",
];

const filesOf = (config: string | undefined, hooks: string | undefined): readonly SettingsText[] => [
  { path: CONFIG, text: config },
  { path: HOOKS, text: hooks },
];
const add = (files: readonly SettingsText[], version?: string, of: HookCommand = command) =>
  installer.add(files, { scope: "user", target, command: of, version });
const textsOf = (files: readonly SettingsText[]) => files.map(({ text }) => text);
const [configOf, hooksOf] = [0, 1].map((at) => (files: readonly SettingsText[]) => files[at]?.text ?? "") as [
  (files: readonly SettingsText[]) => string,
  (files: readonly SettingsText[]) => string,
];
const statesIn = (files: readonly SettingsText[]) => hookStates(configOf(files));
const key = (event: string, group: number, index = 0): string => `${HOOKS}:${event}:${group}:${index}`;

describe("registered events", () => {
  const fresh = add(filesOf(undefined, undefined));

  test("has every event, with a timeout, except those that answer for the user", () => {
    const { hooks } = JSON.parse(hooksOf(fresh));
    expect(Object.keys(hooks)).toEqual(EVENTS);
    for (const event of EVENTS) {
      expect(Object.keys(hooks[event][0])).toEqual(["hooks"]);
      expect(Object.keys(hooks[event][0].hooks[0])).toEqual(["type", "command", "timeout"]);
    }
    for (const event of ["SessionEnd", "Interrupt"]) expect(hooks[event][0].hooks[0].timeout).toBeLessThanOrEqual(3);
    const drains = EVENTS.filter((event) => / -d /.test(hooks[event][0].hooks[0].command));
    expect(drains).toEqual(["Stop", "Interrupt", "SessionEnd"]);
    expect(installer.registered(fresh)).toEqual(EVENTS);
  });

  test("trusts each hook with the hash that Codex computes", () => {
    // `hooks/list` of 0.131.0, 0.150.0 and 0.169.0
    expect(statesIn(fresh).get(key("session_start", 0))?.trustedHash).toBe(
      "sha256:7d1aa179b087156931c17c61ec2609d07bdb5d54cdcc39dda77dc8732d7562e7",
    );
    expect(statesIn(fresh).get(key("stop", 0))?.trustedHash).toBe(
      "sha256:d4b292eb919abdb315ff2b706b019c4a5dc5c56c258a635e04b2bb477b5f0a8a",
    );
    expect(statesIn(fresh).get(key("session_end", 0))?.trustedHash).toBe(
      "sha256:753ec02621faaa4ca5e344e023d2dbef46d7253435cea2f446edc881f4783572",
    );
    expect(statesIn(fresh).size).toBe(EVENTS.length);
  });

  test.each<[string, object, string]>([
    ["PostToolUse", { timeout: 5 }, "052579ac11529eec42925377777e1c37fcf5fc59645a7bd71ac95cb49611b2bc"],
    ["PostToolUse", {}, "5130c1496a4cf303e70321c56c8c8829a88cf2cd8cda2e4f61079877fc54e834"],
    ["SessionEnd", { timeout: 5 }, "823aeab1cf10994923a9a4c0236d0b3c702cfbafc61158f8adceebe65399f28d"],
    ["SessionEnd", { timeout: 3 }, "823aeab1cf10994923a9a4c0236d0b3c702cfbafc61158f8adceebe65399f28d"],
    ["SessionEnd", {}, "c6e3af8b1627dcaa3a876a10d15499bd53226a6b955017999d0eaabae8e2fd46"],
    ["Stop", { timeout: 5 }, "bfacd2ac32f50a02273be5e5139bce873be2be18aed3f7228a6c4b3c28b1beb1"],
    ["Stop", { timeout: 5, async: true }, "c46b26f19a9c848b24c12208ebfbd22e7d1de2571c9eb3c224a5d582e58cebf1"],
    ["Interrupt", { timeout: 5 }, "292ddab3b3e601ea9736f24206b21af7feb982973e9ecc011bc06589b3e4d3a3"],
    [
      "SessionStart",
      { timeout: 5, statusMessage: "xx" },
      "0c847999a244eeb1d5fe83f7319194514bf508919f0e76396a319bee9dea732a",
    ],
    [
      "PreModelRequest",
      { timeout: 5, command: 'echo "é" <&>/ 😀' },
      "5f5ec70785ac59e964c7c1678d7ef643aed0032bfe17b56afebe3e63f67b9a71",
    ],
  ])("hash of %s %j", (event, entry, expected) => {
    const matcher = { PostToolUse: "Bash|apply_patch", SessionStart: "*" }[event];
    const isMatched = matcher !== undefined && Object.keys(entry).length > 0;
    const group = { ...(isMatched && { matcher }), hooks: [{ type: "command", command: "echo hi", ...entry }] };
    const [handler] = handlersOf(JSON.stringify({ hooks: { [event]: [group] } }));
    expect(handler && trustHash(handler)).toBe(`sha256:${expected}`);
  });

  test("uses notify for versions without hooks, unless notify is taken", () => {
    const old = add(filesOf('model = "gpt-5.5"\n', undefined), "0.110.0");
    expect(installer.registered(old)).toEqual(["agent-turn-complete"]);
    expect(old[1]?.text).toBeUndefined();
    expect(textsOf(installer.remove(old))).toEqual(['model = "gpt-5.5"\n', undefined]);
    const foreign = filesOf('notify = ["terminal-notifier"]\n', undefined);
    expect(textsOf(add(foreign, "0.110.0"))).toEqual(textsOf(foreign));
    const upgraded = add(old, "0.169.0");
    expect(installer.registered(upgraded)).toEqual(EVENTS);
    const downgraded = add(upgraded, "0.114.0");
    expect(textsOf(downgraded)).toEqual(textsOf(old));
  });

  test.each([undefined, "", "# mine\n", "[tui]\na = 1\n", 'a = 1\n\n[tui]\nb = """\nnotify = 1\n"""\n', "a = 1"])(
    "puts notify above all tables in %j, and removes it completely",
    (config) => {
      const old = add(filesOf(config, undefined), "0.110.0");
      const at = readToml(configOf(old)).find((one) => one.kind === "pair" && one.path[0]?.name === "notify");
      expect(at).toBeDefined();
      expect(at).not.toHaveProperty("header");
      expect(textsOf(add(old, "0.110.0"))).toEqual(textsOf(old));
      expect(configOf(installer.remove(old))).toBe(config ?? "");
    },
  );
});

describe("other hooks", () => {
  const foreignHook = (text: string) => ({ hooks: [{ type: "command", command: text }] });

  test("stay with their trust, also if ours came before them", () => {
    const ours = JSON.parse(hooksOf(add(filesOf(undefined, undefined))));
    const mixed = {
      hooks: { ...ours.hooks, Stop: [...ours.hooks.Stop, foreignHook("echo a"), foreignHook("echo b")] },
    };
    const trusted = add(filesOf(undefined, `${JSON.stringify(mixed, null, 2)}\n`));
    const theirs = `\n[hooks.state."${key("stop", 1)}"]\ntrusted_hash = "a"\n[hooks.state."${key("stop", 2)}"]\nenabled = false\n`;
    const removed = installer.remove(filesOf(configOf(trusted) + theirs, hooksOf(trusted)));
    expect(JSON.parse(hooksOf(removed))).toEqual({ hooks: { Stop: mixed.hooks.Stop.slice(1) } });
    expect([...statesIn(removed)]).toEqual([
      [key("stop", 0), { trustedHash: "a" }],
      [key("stop", 1), { enabled: false }],
    ]);
  });

  test("in a group with ours move up with their trust", () => {
    const ours = JSON.parse(hooksOf(add(filesOf(undefined, undefined))));
    const [group] = ours.hooks.Stop;
    const shared = { hooks: { Stop: [{ hooks: [...group.hooks, ...foreignHook("echo a").hooks] }] } };
    const config = `[hooks.state]\n"${key("stop", 0, 1)}" = { trusted_hash = "a" }\n`;
    const removed = installer.remove(filesOf(config, JSON.stringify(shared)));
    expect(statesIn(removed)).toEqual(new Map([[key("stop", 0, 0), { trustedHash: "a" }]]));
  });

  test("a hook that the user disabled stays disabled, trusted or not", () => {
    const config = `[hooks.state."${key("stop", 0)}"]\nenabled = false # not now\n`;
    const added = add(filesOf(config, undefined));
    expect(statesIn(added).get(key("stop", 0))).toMatchObject({ enabled: false });
    expect(statesIn(added).get(key("stop", 0))?.trustedHash).toMatch(/^sha256:/);
    expect(configOf(added)).toContain("enabled = false # not now");
  });

  test("removes the trust of our hooks if a user removed the hooks", () => {
    const added = add(filesOf("a = 1\n", undefined));
    expect(textsOf(installer.remove(filesOf(configOf(added), undefined)))).toEqual(["a = 1\n", undefined]);
  });

  test("keeps another scope's trust in the same configuration", () => {
    const user = add(filesOf("a = 1\n", undefined));
    const path = `${HOME}/acme-shop/.codex/hooks.json`;
    const project = [
      { path: CONFIG, text: configOf(user) },
      { path, text: undefined },
    ];
    const both = installer.add(project, { scope: "project", target, command, version: undefined });
    expect(statesIn(both).size).toBe(2 * EVENTS.length);
    expect(configOf(installer.remove(both))).toBe(configOf(user));
    const left = installer.remove(filesOf(configOf(both), hooksOf(user)));
    expect([...statesIn(left).keys()].every((one) => one.startsWith(`${path}:`))).toBe(true);
    expect(statesIn(left).size).toBe(EVENTS.length);
  });
});

describe("any settings", () => {
  const word = fc.stringMatching(/^[a-z]{1,6}$/);
  const value = fc.oneof(
    fc.constantFrom("1", "true", "1979-05-27 07:32:00", "[ 1, # one ]\n 2 ]", "'''\n[x]\n# no'''", '"""a\\"""""" # c'),
    fc.string().map((text) => JSON.stringify(text)),
  );
  const pair = fc.tuple(word, value).map(([name, of]) => `${name} = ${of}`);
  const line = fc.oneof(pair, fc.constantFrom("", "# comment [x] = 1", "#[hooks]"));
  const table = fc.tuple(word, fc.boolean(), fc.array(line, { maxLength: 3 })).map(([name, isArray, lines]) => {
    return [isArray ? `[[list.${name}]]` : `[table.${name}]  # of mine`, ...lines].join("\n");
  });
  const config = fc
    .tuple(
      fc.array(line, { maxLength: 4 }),
      fc.array(table, { maxLength: 3 }),
      fc.boolean(),
      fc.constantFrom("", "\n", "\n\n"),
    )
    .map(([top, tables, isWindows, end]) => {
      const text = [...top, ...tables].join("\n") + end;
      return isWindows ? text.replaceAll("\n", "\r\n") : text;
    })
    .filter(isToml);
  const group = fc.record({
    matcher: fc.string(),
    hooks: fc.array(fc.record({ command: fc.string() }), { minLength: 1 }),
  });
  const hooks = fc
    .record({
      hooks: fc.dictionary(
        fc.constantFrom("PreToolUse", "Stop", "SessionEnd", "Mine"),
        fc.array(group, { minLength: 1 }),
        {
          noNullPrototype: true,
          minKeys: 1,
        },
      ),
      other: fc.jsonValue(),
    })
    .map((settings) => `${JSON.stringify(settings, null, 2)}\n`);
  const version = fc.constantFrom("0.110.0", "0.131.0", "0.169.0", undefined);

  test("are restored byte for byte; adding twice equals adding once", () => {
    fc.assert(
      fc.property(config, fc.option(hooks, { nil: undefined }), version, version, (toml, json, first, second) => {
        const before = filesOf(toml === "" ? undefined : toml, json);
        const added = add(add(before, first), second);
        expect(textsOf(add(added, second))).toEqual(textsOf(added));
        expect(() => readToml(configOf(added))).not.toThrow();
        expect(textsOf(installer.remove(added))).toEqual(textsOf(before));
        expect(textsOf(installer.remove(before))).toEqual(textsOf(before));
      }),
      { numRuns: runs(150) },
    );
  });

  test("another command line replaces ours in place, with its hash", () => {
    const other: HookCommand = (options) => `${command(options)} #openhook-otel`;
    fc.assert(
      fc.property(config, (toml) => {
        const added = add(filesOf(toml, undefined));
        const changed = add(added, undefined, other);
        expect([...statesIn(changed).keys()]).toEqual([...statesIn(added).keys()]);
        expect(statesIn(changed)).not.toEqual(statesIn(added));
        expect(textsOf(add(changed))).toEqual(textsOf(added));
      }),
      { numRuns: runs(50) },
    );
  });

  test.each<[string | undefined, string | undefined, string, RegExp]>([
    ["a = \n", undefined, CONFIG, /^line 2, column 1: not valid TOML: Unspecified values are invalid/],
    ['a = "open\n', undefined, CONFIG, /^line 1, column 10: not valid TOML: Unterminated string constant/],
    ["a = 1 b = 2\n", undefined, CONFIG, /^line 1, column 7: not valid TOML: Must be a newline/],
    ["\n[a\n", undefined, CONFIG, /^line 3, column 1: not valid TOML: Unterminated table-key/],
    ["a = 1\na = 2\n", undefined, CONFIG, /^line 2, column 1: not valid TOML: Defining a key multiple times/],
    ["hooks = { Stop = [] }\n", undefined, CONFIG, /^line 1, column 9: "hooks" or "hooks.state" is an inline table/],
    [undefined, '{\n  "hooks": 1\n}', HOOKS, /"hooks" is a number/],
    [undefined, '{\n  // mine\n  "hooks": {}\n}', HOOKS, /^line 2, column 3: not valid JSON, without comments/],
  ])("%j %j are rejected with line and column", (toml, json, path, message) => {
    const refused = (): unknown => {
      try {
        return add(filesOf(toml, json));
      } catch (error) {
        return error;
      }
    };
    expect(refused()).toBeInstanceOf(SettingsError);
    expect(refused()).toMatchObject({ path, message: expect.stringMatching(message) });
    expect(installer.registered(filesOf(toml, json))).toEqual([]);
  });
});

describe("paths", () => {
  let folder = "";
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "openhook-codex-")));
    mkdirSync(join(folder, "real", ".codex"), { recursive: true });
    mkdirSync(join(folder, "shop"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    symlinkSync(join(folder, "shop"), join(folder, "shop-link"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  const at = (rest: Partial<InstallTarget>): InstallTarget => ({ home: folder, project: folder, env: {}, ...rest });

  test("are resolved as Codex does: links in CODEX_HOME and the project, not in HOME", async () => {
    const home = join(folder, "link");
    expect(await installer.paths("user", at({ home }))).toEqual([
      join(home, ".codex", "config.toml"),
      join(home, ".codex", "hooks.json"),
    ]);
    expect((await installer.paths("user", at({ env: { CODEX_HOME: join(home, ".codex") } })))[1]).toBe(
      join(folder, "real", ".codex", "hooks.json"),
    );
    expect(await installer.paths("project", at({ home, project: join(folder, "shop-link") }))).toEqual([
      join(home, ".codex", "config.toml"),
      join(folder, "shop", ".codex", "hooks.json"),
    ]);
  });

  test("the agent is detected by its folder", async () => {
    const env = { PATH: folder };
    expect(await installer.detect(at({ home: join(folder, "real"), env }))).toEqual({ present: true });
    expect(await installer.detect(at({ home: join(folder, "shop"), env }))).toEqual({ present: false });
  });

  describe("check", () => {
    const findingsOf = async (files: readonly SettingsText[], of: InstallTarget = target) =>
      (await installer.check(files, of)).map(({ level, text }) => `${level}: ${text}`);
    const edited = (edit: (config: string) => string) => {
      const added = add(filesOf(undefined, undefined));
      return findingsOf(filesOf(edit(configOf(added)), hooksOf(added)));
    };

    test("reports nothing if all hooks work or none is ours", async () => {
      expect(await edited((config) => config)).toEqual([]);
      expect(await findingsOf(filesOf("a = 1\n", undefined))).toEqual([]);
    });

    test.each<[string, (config: string) => string, RegExp]>([
      ["missing trust", () => "", /^broken: the hook is not trusted for SessionStart, .*, SessionEnd, so/],
      [
        "another hash",
        (config) => config.replace(/sha256:7d1aa179/, "sha256:00000000"),
        /^broken: .*changed since .*SessionStart;/,
      ],
      [
        "a disabled hook",
        (config) => config.replace("trusted_hash", "enabled = false\ntrusted_hash"),
        /^broken: .*switched off for SessionStart;/,
      ],
      ["hooks disabled", (config) => `${config}[features]\nhooks = false\n`, /^broken: hooks are switched off/],
      [
        "hooks disabled under the former name",
        (config) => `features.codex_hooks = false\n${config}`,
        /codex_hooks = false/,
      ],
      ["an invalid configuration", () => "a = [", /^broken: .*config.toml cannot be read/],
      ["hooks in both forms", (config) => `${config}[[hooks.Stop]]\n`, /^remark: .* warns at each start/],
    ])("%s", async (_, edit, expected) => {
      const found = await edited(edit);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatch(expected);
    });

    test("reports an untrusted project, and a worktree, whose hooks Codex never reads", async () => {
      const shop = join(folder, "shop");
      const tree = join(folder, "tree");
      mkdirSync(join(shop, ".git", "worktrees", "tree"), { recursive: true });
      mkdirSync(join(tree, "src"), { recursive: true });
      writeFileSync(join(tree, ".git"), `gitdir: ${shop}/.git/worktrees/tree\n`);
      const inProject = async (project: string, config: string) => {
        const of = at({ project });
        const files = (await installer.paths("project", of)).map((path) => ({
          path,
          text: undefined as string | undefined,
        }));
        const added = installer.add(files, { scope: "project", target: of, command, version: undefined });
        return findingsOf(
          added.map((file) => (file.path.endsWith(".toml") ? { ...file, text: (file.text ?? "") + config } : file)),
          of,
        );
      };
      const trust = `[projects.${JSON.stringify(shop)}]\ntrust_level = "trusted"\n`;
      expect(await inProject(shop, trust)).toEqual([]);
      expect(await inProject(shop, "")).toEqual([expect.stringMatching(/^broken: the project is not trusted/)]);
      expect(await inProject(shop, trust.replace('"trusted"', '"untrusted"'))).toHaveLength(1);
      expect(await inProject(join(tree, "src"), trust)).toEqual([expect.stringMatching(/^broken: this is a worktree/)]);
    });
  });
});

/** TOML that Codex reads: no duplicate names, no characters that need escapes. */
function isToml(text: string): boolean {
  try {
    parseTOML(text);
    return true;
  } catch {
    return false;
  }
}
