import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { consentTo } from "#collect/bridge/consent.ts";
import {
  MAX_BYTES,
  MAX_COMMANDS,
  projectFileOf,
  type RegistrationFile,
  type Runner,
  readRegistrationFile,
} from "#collect/bridge/registration-file.ts";

const uid = process.getuid?.();
const ME: Runner = { uid };
const OTHER = 65_534;
let folder = "";
let path = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "openhook-bridge-"));
  path = join(folder, ".openhook.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (hooks: unknown, at = path): void => writeFileSync(at, JSON.stringify({ openhook: "0.1", hooks }));
const read = (runner = ME) => readRegistrationFile(path, runner);
const problem = (runner = ME): string | undefined => {
  const found = read(runner);
  return found !== undefined && "problem" in found ? found.problem : undefined;
};

test("a file gives its commands with their events; one that is listed twice is one command", () => {
  write([
    { command: "notify" },
    { command: "audit", events: ["tool.start"], async: true },
    { command: "audit", events: ["tool.end"], async: true },
  ]);
  expect(read()).toMatchObject({
    folder,
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    owner: uid,
    commands: [
      { command: "notify", events: ["*"], isAsync: false },
      { command: "audit", events: ["tool.start", "tool.end"], isAsync: true },
    ],
  });
});

test("our own registration is never one of the commands, whichever version wrote it", () => {
  write([
    { command: "[ ! -x ~/.local/share/openhook-otel/hook ]||exec ~/.local/share/openhook-otel/hook openhook" },
    { command: "/opt/state/hook openhook #openhook-otel" },
    { command: '"C:\\node.exe" "C:\\state\\hook.cjs" --source openhook --drain yes' },
    { command: "theirs" },
  ]);
  expect(read()).toMatchObject({ own: 3, commands: [{ command: "theirs" }] });
});

test.each([
  "openhook-otel hook --source openhook",
  "npx openhook-otel hook --source openhook",
  "npx --yes openhook-otel@1.2.0 hook",
  "/opt/node/bin/openhook-otel hook --source openhook",
  "node '/opt/lib/dist/openhook-otel.cjs' hook",
  "sh -c 'openhook-otel hook --source openhook'",
  "env -i PATH=/usr/bin openhook-otel hook --source openhook",
  "A=1 exec openhook-otel  hook",
  "true; openhook-otel hook",
  "C:\\tools\\openhook-otel.cmd hook --source openhook",
])("our hook is not one of the commands: %s", (command) => {
  write([{ command }]);
  expect(read()).toMatchObject({ own: 1, commands: [] });
});

test.each(["openhook-otel convert", "./my-openhook-otel hook", "openhook-otel hooks-report", "echo hook"])(
  "a command that only resembles our hook is one of the commands: %s",
  (command) => {
    write([{ command }]);
    expect(read()).toMatchObject({ own: 0, commands: [{ command }] });
  },
);

test("a file has its own consent, though it is a hard link to an allowed one", () => {
  write([{ command: "a" }]);
  const other = join(folder, "other.json");
  linkSync(path, other);
  const consents = [{ ...(read() as RegistrationFile), atMs: 0, environment: {} }];
  expect(consentTo(consents, readRegistrationFile(path, ME) as RegistrationFile)).toBeDefined();
  expect(consentTo(consents, readRegistrationFile(other, ME) as RegistrationFile)).toBeUndefined();
  // Written through its other name
  write([{ command: "b" }], other);
  expect(consentTo(consents, readRegistrationFile(path, ME) as RegistrationFile)).toBeUndefined();
});

test("a changed byte changes the digest", () => {
  write([{ command: "a" }]);
  const before = read();
  write([{ command: "b" }]);
  expect(read()).not.toMatchObject({ digest: (before as { digest: string }).digest });
});

describe("refused", () => {
  test("a link, a folder and a pipe", () => {
    write([{ command: "a" }], join(folder, "real.json"));
    symlinkSync(join(folder, "real.json"), path);
    expect(problem()).toBe("it is a link");
    rmSync(path);
    mkdirSync(path);
    expect(problem()).toBe("it is not a regular file");
    rmSync(path, { recursive: true });
    if (spawnSync("mkfifo", [path]).status === 0) expect(problem()).toBe("it is not a regular file");
  });

  test("another user's file, and a file in another user's folder", () => {
    write([{ command: "a" }]);
    expect(problem({ uid: OTHER })).toBe("it belongs to another user");
    if (uid !== 0) return;
    chownSync(path, OTHER, OTHER);
    expect(problem()).toBe("it belongs to another user");
    chownSync(path, 0, 0);
    chownSync(folder, OTHER, OTHER);
    expect(problem()).toBe("its folder belongs to another user");
  });

  test("a folder that everyone can write to", () => {
    write([{ command: "a" }]);
    chmodSync(folder, 0o777);
    expect(problem()).toMatch(/^its folder can be written by all users$/);
    chmodSync(folder, 0o1777);
    expect(problem()).toMatch(/by all users, who could add programs there$/);
    chmodSync(folder, 0o775);
    expect(problem()).toBeUndefined();
  });

  test.runIf(uid === 0)("everything, for root through sudo", () => {
    write([{ command: "a" }]);
    expect(problem({ uid: 0, sudoUid: 1000 })).toMatch(/sudo/);
    expect(problem({ uid: 0, sudoUid: 0 })).toBeUndefined();
  });

  test("a file that is too large, has too many commands, or is no OpenHook file", () => {
    writeFileSync(path, " ".repeat(MAX_BYTES + 1));
    expect(problem()).toMatch(/larger than/);
    write(Array.from({ length: MAX_COMMANDS + 1 }, (_, n) => ({ command: `c${n}` })));
    expect(problem()).toMatch(/more than 32 commands/);
    write([{ command: "a\0b" }]);
    expect(problem()).toMatch(/NUL/);
    write([{ command: "x".repeat(9_000) }]);
    expect(problem()).toMatch(/longer than/);
    for (const text of ["", "{", "[]", '{"openhook":"0.1"}', `${"[".repeat(30_000)}`]) {
      writeFileSync(path, text);
      expect(problem(), text.slice(0, 20)).toMatch(/does not follow OpenHook/);
    }
  });
});

test("the project's file is the nearest one, up to the root of the repository", () => {
  const below = join(folder, "packages", "shop");
  mkdirSync(below, { recursive: true });
  write([{ command: "a" }]);
  expect(projectFileOf(below)).toBeUndefined();
  mkdirSync(join(folder, ".git"));
  expect(projectFileOf(below)).toBe(path);
  // Also a dangling link: it is refused, and no file above it counts
  symlinkSync("/nowhere", join(below, ".openhook.json"));
  expect(projectFileOf(below)).toBe(join(below, ".openhook.json"));
  expect(projectFileOf("relative")).toBeUndefined();
});
