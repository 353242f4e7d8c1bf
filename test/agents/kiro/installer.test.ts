import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import installer from "#agents/kiro/installer.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import type { HookCommand } from "#core/model/agent.ts";
import type { InstallTarget, SettingsText } from "#core/model/installer.ts";
import fc from "../../support/properties.ts";
import { runs } from "../../support/whole.ts";

const command: HookCommand = ({ source, event, drain }) =>
  `/opt/openhook-otel/hook ${drain === "yes" ? "-d " : ""}${source}${event === undefined ? "" : ` ${event}`}`;

let root = "";
let target: InstallTarget = { home: "", project: "", env: {} };
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "openhook-kiro-"));
  target = { home: join(root, "home"), project: join(root, "project"), env: { PATH: join(root, "bin") } };
});
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));

const put = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};
const agentPath = (name: string, base = target.home): string => join(base, ".kiro", "agents", name);
const read = async (scope: "user" | "project" = "user"): Promise<readonly SettingsText[]> =>
  (await installer.paths(scope, target)).map((path) => {
    try {
      return { path, text: readFileSync(path, "utf8") };
    } catch {
      return { path, text: undefined };
    }
  });
const registration = (version?: string, scope: "user" | "project" = "user") => ({ scope, target, command, version });
const store = (files: readonly SettingsText[]): void => {
  for (const { path, text } of files) if (text !== undefined) put(path, text);
};
const kiroCli = (script: string): void => {
  put(join(root, "bin", "kiro-cli"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(root, "bin", "kiro-cli"), 0o755);
};

describe("the hook file of v3 and IDE 1.x", () => {
  it("is a separate file, in schema v1, without matchers", async () => {
    const [hooks, end] = installer.add(await read(), registration());
    expect(hooks?.path).toBe(join(target.home, ".kiro", "hooks", "openhook-otel.json"));
    expect(end?.text).toBeUndefined();
    const written = JSON.parse(hooks?.text ?? "");
    expect(written.version).toBe("v1");
    expect(written.hooks.map((hook: { trigger: string }) => hook.trigger)).toEqual([
      "SessionStart",
      "UserPromptSubmit",
      "PreToolUse",
      "PostToolUse",
      "Stop",
    ]);
    expect(written.hooks.at(-1)).toEqual({
      name: "openhook-otel Stop",
      trigger: "Stop",
      action: { type: "command", command: "/opt/openhook-otel/hook -d kiro" },
      timeout: 5,
      enabled: true,
    });
  });
  it("has SessionEnd in another file, for versions that know it", async () => {
    for (const version of ["2.24.9", undefined])
      expect(installer.add(await read(), registration(version))[1]?.text).toBeUndefined();
    const added = installer.add(await read(), registration("2.25.0"));
    expect(JSON.parse(added[1]?.text ?? "").hooks).toHaveLength(1);
    expect(installer.registered(added)).toContain("SessionEnd");
    // A downgrade removes it
    expect(installer.add(added, registration("2.24.0"))[1]?.text).toBeUndefined();
  });
  it("keeps other content", async () => {
    const foreign =
      '{\n  "version": "v1",\n  "hooks": [\n    { "name": "lint", "trigger": "PostFileSave", "action": { "type": "agent", "prompt": "lint" } }\n  ]\n}\n';
    put(join(target.home, ".kiro", "hooks", "openhook-otel.json"), foreign);
    const added = installer.add(await read(), registration());
    expect(JSON.parse(added[0]?.text ?? "").hooks).toHaveLength(6);
    expect(installer.remove(added)[0]?.text).toBe(foreign);
  });
});

describe("agent files of CLI 2.x", () => {
  it("get the five events in every existing agent", async () => {
    put(agentPath("acme.json"), '{ "name": "acme", "tools": ["*"] }\n');
    put(
      agentPath("review.json"),
      '{\n  "name": "review",\n  "hooks": {\n    "stop": [ { "command": "say done" } ]\n  }\n}\n',
    );
    put(agentPath("notes.md"), "no agent");
    const files = await read();
    expect(files.map(({ path }) => path.slice(join(target.home, ".kiro").length + 1))).toEqual([
      "hooks/openhook-otel.json",
      "hooks/openhook-otel-end.json",
      "agents/acme.json",
      "agents/review.json",
    ]);
    const added = installer.add(files, registration());
    const review = JSON.parse(added[3]?.text ?? "");
    expect(review.hooks.stop).toEqual([
      { command: "say done" },
      { command: "/opt/openhook-otel/hook -d kiro agent", timeout_ms: 5000 },
    ]);
    expect(Object.keys(review.hooks)).toEqual(["stop", "agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse"]);
    expect(review.hooks.preToolUse[0]).not.toHaveProperty("matcher");
    expect(installer.add(added, registration())).toEqual(added);
    expect(installer.remove(added).slice(2)).toEqual(files.slice(2));
  });
  it("are never created or deleted", async () => {
    expect((await read()).every(({ path }) => !path.includes("/agents/"))).toBe(true);
    put(agentPath("empty.json"), "{}\n");
    const files = await read();
    expect(installer.remove(installer.add(files, registration()))[2]?.text).toBe("{}\n");
  });
  it("that Kiro cannot parse are rejected with line and column", async () => {
    put(agentPath("broken.json"), '{\n  "hooks": 1\n}');
    const files = await read();
    expect(() => installer.add(files, registration())).toThrow(SettingsError);
    expect(() => installer.add(files, registration())).toThrow(/^line 2, column 12: "hooks" is not an object/);
    put(agentPath("broken.json"), "{");
    const torn = await read();
    expect(() => installer.add(torn, registration())).toThrow(SettingsError);
    expect(installer.registered(torn)).toEqual([]);
  });
  it("migrated to v3 keep their list, and have it back after removal", async () => {
    const text =
      '{ "name": "a", "hooks": [ { "name": "agentSpawn-0", "trigger": "agentSpawn", "action": { "type": "command", "command": "git status" }, "timeout": 10 } ] }';
    const files = [{ path: agentPath("a.json"), text }];
    const added = installer.add(files, registration("2.28.0"));
    const { hooks } = JSON.parse(added[0]?.text ?? "");
    expect(hooks[0]).toEqual(JSON.parse(text).hooks[0]);
    expect(hooks.at(-1)).toEqual({
      name: "openhook-otel stop",
      trigger: "stop",
      action: { type: "command", command: "/opt/openhook-otel/hook -d kiro agent" },
      timeout: 5,
    });
    expect(installer.registered(added)).toEqual([
      "agentSpawn",
      "userPromptSubmit",
      "preToolUse",
      "postToolUse",
      "stop",
    ]);
    expect(installer.add(added, registration("2.28.0"))).toEqual(added);
    expect(installer.remove(added)).toEqual(files);
  });
  it("with our hooks migrated to a list are recognised, updated and removed", () => {
    const path = agentPath("a.json");
    const before = JSON.parse(installer.add([{ path, text: "{}" }], registration("2.28.0"))[0]?.text ?? "");
    const hooks = Object.entries<{ command: string }[]>(before.hooks).map(([trigger, [entry]]) => ({
      name: `${trigger}-0`,
      trigger,
      action: { type: "command", command: entry?.command },
      timeout: 5,
    }));
    const upgraded = [{ path, text: JSON.stringify({ hooks, permissions: {} }) }];
    expect(installer.registered(upgraded)).toHaveLength(5);
    const again = installer.add(upgraded, registration("3.0.0"));
    expect(JSON.parse(again[0]?.text ?? "").hooks).toHaveLength(5);
    expect(installer.remove(again)[0]?.text).toBe('{"permissions":{}}');
    expect(installer.remove(upgraded)[0]?.text).toBe('{"permissions":{}}');
  });
  it("without hooks get the form of the installed version", () => {
    const files = [{ path: agentPath("a.json"), text: '{"name":"a"}' }];
    const form = (version?: string) => JSON.parse(installer.add(files, registration(version))[0]?.text ?? "").hooks;
    expect(Array.isArray(form("3.0.0"))).toBe(true);
    for (const version of ["2.28.0", undefined]) expect(Array.isArray(form(version))).toBe(false);
    expect(installer.remove(installer.add(files, registration("3.1.2")))).toEqual(files);
    // After a Kiro update, an object with only our hooks becomes a list; any other stays
    const former = installer.add(files, registration("2.28.0"));
    const updated = installer.add(former, registration("3.0.0"));
    expect(Array.isArray(JSON.parse(updated[0]?.text ?? "").hooks)).toBe(true);
    expect(installer.add(updated, registration("3.0.0"))).toEqual(updated);
    expect(installer.remove(updated)).toEqual(files);
    const shared = [{ path: agentPath("b.json"), text: '{"hooks":{"stop":[{"command":"x"}]}}' }];
    expect(JSON.parse(installer.add(shared, registration("3.0.0"))[0]?.text ?? "").hooks.stop).toHaveLength(2);
  });
  it("with comments, tabs, CRLF or a byte order mark are restored byte for byte", async () => {
    const texts = [
      '{\r\n\t"name": "a", // mine\r\n\t"hooks": {\r\n\t\t"stop": [\r\n\t\t\t{ "command": "x" } // last\r\n\t\t]\r\n\t}\r\n}\r\n',
      '\uFEFF{"name":"a","hooks":{"preToolUse":[{"matcher":"fs_write","command":"x"}]}}',
      '{ "hooks": { "agentSpawn": [{"command":"x"}], }, /* end */ }',
    ];
    for (const text of texts) {
      const files = [{ path: agentPath("a.json"), text }];
      const added = installer.add(files, registration());
      expect(installer.registered(added)).toHaveLength(5);
      expect(installer.remove(added)).toEqual(files);
    }
  });
  it("of any content survive adding twice and removing", () => {
    const entry = fc.record({ command: fc.string(), matcher: fc.string() }, { requiredKeys: ["command"] });
    const event = fc.constantFrom("agentSpawn", "preToolUse", "stop", "somethingNew");
    const agent = fc.record(
      {
        name: fc.string(),
        tools: fc.array(fc.string()),
        mcpServers: fc.jsonValue(),
        hooks: fc.dictionary(event, fc.array(entry, { minLength: 1 }), { minKeys: 1, noNullPrototype: true }),
      },
      { requiredKeys: ["name"], noNullPrototype: true },
    );
    fc.assert(
      fc.property(agent, fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        const files = [{ path: "/h/.kiro/agents/a.json", text: JSON.stringify(value, null, indent) }];
        const added = installer.add(files, registration());
        expect(installer.add(added, registration())).toEqual(added);
        expect(installer.remove(added)).toEqual(files);
      }),
      { numRuns: runs(150) },
    );
  });
});

describe("a folder set by KIRO_HOME", () => {
  it("gets hooks in agents and hook files, as does the default one, which v3 and the IDE read", async () => {
    const moved = join(root, "work");
    put(join(moved, "agents", "a.json"), "{}");
    put(agentPath("b.json"), "{}");
    put(join(moved, "settings", "cli.json"), '{"chat.defaultAgent":"a"}');
    target = { ...target, env: { ...target.env, KIRO_HOME: moved } };
    expect(await installer.paths("user", target)).toEqual([
      join(moved, "hooks", "openhook-otel.json"),
      join(moved, "hooks", "openhook-otel-end.json"),
      join(moved, "agents", "a.json"),
      join(target.home, ".kiro", "hooks", "openhook-otel.json"),
      join(target.home, ".kiro", "hooks", "openhook-otel-end.json"),
      agentPath("b.json"),
    ]);
    kiroCli("echo kiro-cli 2.21.0");
    store(installer.add(await read(), registration("2.21.0")));
    expect(await installer.check(await read(), target)).toEqual([]);
    expect(await installer.paths("project", target)).toEqual([
      join(target.project, ".kiro", "hooks", "openhook-otel.json"),
      join(target.project, ".kiro", "hooks", "openhook-otel-end.json"),
    ]);
    store(installer.add(await read("project"), registration(undefined, "project")));
    expect(await installer.check(await read(), target)).toEqual([
      expect.objectContaining({ text: expect.stringMatching(/work\/hooks\/openhook-otel\.json and .*counts twice/) }),
    ]);
    for (const empty of ["", undefined]) {
      const paths = await installer.paths("user", { ...target, env: { KIRO_HOME: empty } });
      expect(paths.some((path) => path.startsWith(moved))).toBe(false);
    }
  });
  it("shows that Kiro is installed", async () => {
    const moved = join(root, "work");
    mkdirSync(moved);
    expect(await installer.detect({ ...target, env: { ...target.env, KIRO_HOME: moved } })).toEqual({ present: true });
  });
});

describe("reasons why hooks do not run", () => {
  const texts = async (scope: "user" | "project" = "user") =>
    (await installer.check(await read(scope), target)).map(({ level, text }) => `${level}: ${text}`);
  const enable = async (scope: "user" | "project" = "user") => store(installer.add(await read(scope), registration()));

  it("none without the CLI: the IDE reads the hook file", async () => {
    await enable();
    expect(await texts()).toEqual([]);
  });
  it("no agent file: the built-in agent cannot have hooks", async () => {
    kiroCli("echo kiro-cli 2.2.2");
    await enable();
    expect(await texts()).toEqual([expect.stringMatching(/^broken: .*agent create/)]);
    kiroCli("echo kiro-cli 2.21.0");
    expect(await texts()).toEqual([expect.stringMatching(/^remark: .*agent create/)]);
  });
  it("the agent with hooks is not the default one", async () => {
    kiroCli("echo kiro-cli 2.21.0");
    put(agentPath("acme.json"), '{"name":"acme"}');
    await enable();
    expect(await texts()).toEqual([expect.stringMatching(/set-default/)]);
    put(join(target.home, ".kiro", "settings", "cli.json"), '{"chat.defaultAgent":"acme"}');
    expect(await texts()).toEqual([]);
    put(agentPath("new.json"), '{"name":"new"}');
    expect(await texts()).toEqual([expect.stringMatching(/new\.json has no openhook-otel hooks/)]);
  });
  it("finds a disabled hook, and registration in both scopes", async () => {
    await enable();
    await enable("project");
    expect(await texts()).toEqual([expect.stringMatching(/^broken: .*counts twice/)]);
    expect(await texts("project")).toEqual([expect.stringMatching(/^broken: .*counts twice/)]);
    const path = join(target.home, ".kiro", "hooks", "openhook-otel.json");
    put(path, readFileSync(path, "utf8").replace("true", "false"));
    expect(await texts()).toContainEqual(expect.stringMatching(/switched off/));
  });
});

describe.skipIf(process.platform === "win32")("Kiro is detected", () => {
  it("by its program, else by its folder", async () => {
    expect(await installer.detect(target)).toEqual({ present: false });
    mkdirSync(join(target.home, ".kiro"), { recursive: true });
    expect(await installer.detect(target)).toEqual({ present: true });
    kiroCli("echo kiro-cli 2.28.0");
    expect(await installer.detect(target)).toEqual({ present: true, version: "2.28.0" });
  });
});
