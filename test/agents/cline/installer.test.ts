import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import installer, { hookFileText, isOurs } from "#agents/cline/installer.ts";
import { SettingsError } from "#agents/shared/settings/settings.ts";
import type { HookCommand } from "#core/model/agent.ts";
import type { InstallTarget, SettingsText } from "#core/model/installer.ts";
import fc from "../../support/properties.ts";

const command: HookCommand = ({ source, drain }) =>
  `[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook ${source} ${drain}`;
const other: HookCommand = (options) => `${command(options)} #openhook-otel`;
const EVENTS = ["PostToolUse", "PreToolUse", "SessionShutdown", "TaskComplete", "TaskError", "TaskStart"];

let home = "";
let target: InstallTarget;
let folder = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "openhook-cline-hooks-"));
  target = { home, project: join(home, "acme-shop"), env: { PATH: join(home, "bin") } };
  folder = join(home, ".cline", "hooks");
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

const read = async (): Promise<readonly SettingsText[]> =>
  (await installer.paths("user", target)).map((path) => ({
    path,
    text: existsSync(path) ? readFileSync(path, "utf8") : undefined,
  }));
const add = (files: readonly SettingsText[], how = command): readonly SettingsText[] =>
  installer.add(files, { scope: "user", target, command: how, version: undefined });
function write(files: readonly SettingsText[]): void {
  for (const { path, text } of files) {
    if (text === undefined) rmSync(path, { force: true });
    else writeFileSync(path, text);
  }
}

describe("registrations", () => {
  it("are separate files, one per event that is known to fire", async () => {
    const files = add(await read());
    expect(files.map((file) => basename(file.path)).sort()).toEqual(EVENTS);
    for (const { path, text } of files) {
      expect(dirname(path)).toBe(folder);
      expect(text?.split("\n")[0]).toBe("#!/bin/sh");
      expect(isOurs(text ?? "")).toBe(true);
    }
    expect([...installer.registered(files)].sort()).toEqual(EVENTS);
  });

  it("start a drain at ends, and at a start only if the inbox has files", async () => {
    const drains = add(await read()).map(({ path, text }) => [basename(path), /cline (\S+)\n/.exec(text ?? "")?.[1]]);
    expect(Object.fromEntries(drains)).toEqual({
      TaskStart: "if-waiting",
      PreToolUse: "no",
      PostToolUse: "no",
      TaskComplete: "yes",
      TaskError: "yes",
      SessionShutdown: "yes",
    });
  });

  it("stay the same if added again, change with the command, and disappear if removed", async () => {
    const before = await read();
    const added = add(before);
    write(added);
    expect(add(await read())).toEqual(await read());
    write(add(await read(), other));
    expect(await read()).toEqual(add(before, other));
    expect(installer.remove(await read()).every((file) => file.text === undefined)).toBe(true);
    write(installer.remove(await read()));
    expect(await read()).toEqual(before);
  });

  it("can be in the project's folder or the folder set in the environment", async () => {
    expect((await installer.paths("project", target))[0]).toBe(
      join(home, "acme-shop", ".clinerules", "hooks", "TaskStart"),
    );
    const moved = { ...target, env: { CLINE_DIR: "/opt/cline" } };
    expect((await installer.paths("user", moved))[0]).toBe("/opt/cline/hooks/TaskStart");
  });

  it.skipIf(process.platform === "win32")("run their command with the agent's stdin, and print nothing", () => {
    const script = join(folder, "TaskStart");
    const line = `cat > ${JSON.stringify(join(home, "seen"))}`;
    writeFileSync(script, hookFileText(script, line));
    const shell = spawnSync("sh", [script], { input: "payload", encoding: "utf8" });
    expect([shell.status, shell.stdout, shell.stderr]).toEqual([0, "", ""]);
    expect(readFileSync(join(home, "seen"), "utf8")).toBe("payload");
    rmSync(join(home, "seen"));
    const windows = join(folder, "TaskStart.cjs");
    writeFileSync(windows, hookFileText(windows, line));
    const node = spawnSync(process.execPath, [windows], { input: "payload", encoding: "utf8" });
    expect([node.status, node.stdout, node.stderr]).toEqual([0, "", ""]);
    expect(readFileSync(join(home, "seen"), "utf8")).toBe("payload");
  });
});

describe("other programs' hooks", () => {
  const FOREIGN = "#!/usr/bin/env python3\nprint('{}')\n";

  it("keep their file names; ours use others", async () => {
    writeFileSync(join(folder, "PreToolUse"), FOREIGN);
    writeFileSync(join(folder, "posttooluse"), FOREIGN);
    writeFileSync(join(folder, "TaskStart.sh"), FOREIGN);
    const names = (await installer.paths("user", target)).map((path) => basename(path)).sort();
    expect(names).toEqual([
      "PostToolUse.sh",
      "PreToolUse.sh",
      "SessionShutdown",
      "TaskComplete",
      "TaskError",
      "TaskStart",
    ]);
    write(add(await read()));
    expect([...installer.registered(await read())].sort()).toEqual(EVENTS);
    write(installer.remove(await read()));
    expect(readFileSync(join(folder, "PreToolUse"), "utf8")).toBe(FOREIGN);
    expect(readFileSync(join(folder, "posttooluse"), "utf8")).toBe(FOREIGN);
    expect(readFileSync(join(folder, "TaskStart.sh"), "utf8")).toBe(FOREIGN);
  });

  it("that use every name cause an error and are not overwritten", async () => {
    for (const ending of ["", ".sh", ".bash", ".zsh"]) writeFileSync(join(folder, `TaskError${ending}`), FOREIGN);
    const files = await read();
    expect(() => add(files)).toThrow(SettingsError);
    expect(() => add(files)).toThrow(/"TaskError" is another program's hook/);
    expect(installer.remove(files)).toEqual(files);
  });

  it("edited from ours are kept, and doctor reports them", async () => {
    write(add(await read()));
    const path = join(folder, "TaskStart");
    const mixed = `${readFileSync(path, "utf8")}echo mine\n`;
    writeFileSync(path, mixed);
    expect((await installer.paths("user", target)).map((one) => basename(one))).toContain("TaskStart.sh");
    const found = (await installer.check?.(await read(), target)) ?? [];
    expect(found).toMatchObject([{ level: "remark" }]);
    expect(found[0]?.text).toContain(path);
    write(installer.remove(await read()));
    expect(readFileSync(path, "utf8")).toBe(mixed);
  });

  it("of any content are never recognised as ours", () => {
    const ours = hookFileText("TaskStart", command({ source: "cline", drain: "no" }));
    const text = fc.oneof(
      fc.string(),
      fc.string().map((more) => `${ours}${more.trim()}x`),
      fc.string().map((more) => `${more}x\n${ours}`),
      fc.constant("#!/bin/sh\n# something\nexit 0\n"),
      fc.constant("// a\nrequire('x')\n"),
    );
    fc.assert(
      fc.property(text, fc.constantFrom(...EVENTS), (foreign, event) => {
        const files = [{ path: `/home/dev/.cline/hooks/${event}`, text: foreign }];
        expect(isOurs(foreign)).toBe(false);
        expect(() => add(files)).toThrow(SettingsError);
        expect(installer.remove(files)).toEqual(files);
        expect(installer.registered(files)).toEqual([]);
      }),
    );
  });
});

it("two of our hooks for one event become one", async () => {
  write(add(await read()));
  writeFileSync(join(folder, "TaskStart.sh"), readFileSync(join(folder, "TaskStart"), "utf8"));
  const files = await read();
  expect(files).toHaveLength(EVENTS.length + 1);
  write(add(files));
  expect(existsSync(join(folder, "TaskStart.sh"))).toBe(false);
  expect([...installer.registered(await read())].sort()).toEqual(EVENTS);
});

it.skipIf(process.platform === "win32")(
  "our file is recognised with CRLF or a byte order mark, but not as a link",
  async () => {
    const ours = hookFileText("TaskStart", command({ source: "cline", drain: "no" }));
    expect(isOurs(ours.replaceAll("\n", "\r\n"))).toBe(true);
    expect(isOurs(`\uFEFF${ours}`)).toBe(true);
    symlinkSync("/nowhere", join(folder, "TaskStart"));
    expect((await installer.paths("user", target))[0]).toBe(join(folder, "TaskStart.sh"));
  },
);

it.skipIf(process.platform === "win32")("Cline is detected by its program, else by its folder", async () => {
  expect(await installer.detect(target)).toEqual({ present: true });
  rmSync(join(home, ".cline"), { recursive: true });
  expect(await installer.detect(target)).toEqual({ present: false });
  mkdirSync(join(home, "bin"));
  writeFileSync(join(home, "bin", "cline"), "#!/bin/sh\necho 3.0.65\n");
  chmodSync(join(home, "bin", "cline"), 0o755);
  expect(await installer.detect(target)).toEqual({ present: true, version: "3.0.65" });
});

it.skipIf(process.platform === "win32")("doctor reports that Cline 2 reads another folder", async () => {
  const path = join(home, "bin", "cline");
  mkdirSync(dirname(path));
  const problemsOf = async (version: string) => {
    writeFileSync(path, `#!/bin/sh\necho 'Cline CLI version: ${version}'\n`);
    chmodSync(path, 0o755);
    return installer.check?.(await read(), target);
  };
  expect(await problemsOf("2.18.0")).toEqual([]);
  write(add(await read()));
  expect(await problemsOf("2.18.0")).toMatchObject([{ level: "broken", text: expect.stringContaining(folder) }]);
  expect(await problemsOf("3.0.57")).toEqual([]);
});
