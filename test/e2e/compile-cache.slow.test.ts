// Slow: only `npm run test:all` runs it. Node keeps compiled code beside the program, and only where nobody else can write: it runs what it finds there.
// own-file.test.ts has who can change a folder.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import module from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { installPackage } from "../support/installed-package.ts";
import { ensureBuilt, ROOT } from "../support/program.ts";
import { removeFolder } from "../support/remove.ts";

const isPosix = process.platform !== "win32";
const ANOTHER_USER = 61_103;
const { version: VERSION }: { version: string } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

let folder: string;
let program: string;
let cache: string;
beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), "openhook-compiled-"));
  program = installPackage(folder);
  cache = join(dirname(dirname(program)), "node_modules", ".compile-cache");
});
afterAll(() => removeFolder(folder));
beforeEach(() => removeFolder(cache));

function run(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const home = join(folder, "home");
  const env = { PATH: process.env["PATH"], HOME: home, USERPROFILE: home, ...more };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    env,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

/** Starts the program with a Node that only notes which folder it would use, as every version of Node can. @returns that folder */
function folderAsked(more: Readonly<Record<string, string>> = {}): string | undefined {
  const asked = join(folder, "asked");
  writeFileSync(asked, "");
  const stub = join(folder, "stub.cjs");
  writeFileSync(
    stub,
    `require("node:module").enableCompileCache = (folder) => require("node:fs").appendFileSync(${JSON.stringify(asked)}, folder);`,
  );
  const { status, stdout } = run(["--version"], { NODE_OPTIONS: `--require=${stub}`, ...more });
  expect({ status, stdout }).toEqual({ status: 0, stdout: `${VERSION}\n` });
  return readFileSync(asked, "utf8") || undefined;
}

test("the folder is beside the program, for this user only, and nothing is written to the home", () => {
  expect(folderAsked()).toBe(cache);
  if (isPosix) expect(statSync(cache).mode & 0o777).toBe(0o700);
  expect(folderAsked({ OPENHOOK_OTEL_HOME: join(folder, "of-a-repository") })).toBe(cache);
  expect([existsSync(join(folder, "home")), existsSync(join(folder, "of-a-repository"))]).toEqual([false, false]);
});

describe.runIf(isPosix)("is not used if", () => {
  test("others can open the folder", () => {
    mkdirSync(cache);
    for (const mode of [0o777, 0o770, 0o707, 0o755]) {
      chmodSync(cache, mode);
      expect(folderAsked(), mode.toString(8)).toBeUndefined();
    }
    chmodSync(cache, 0o700);
    expect(folderAsked()).toBe(cache);
  });

  test("everybody can write where the program is", () => {
    const root = dirname(dirname(cache));
    chmodSync(root, 0o777);
    try {
      expect(folderAsked()).toBeUndefined();
    } finally {
      chmodSync(root, 0o755);
    }
    expect(folderAsked()).toBe(cache);
  });

  test("it is a link or a file", () => {
    mkdirSync(join(folder, "elsewhere"), { mode: 0o700 });
    symlinkSync(join(folder, "elsewhere"), cache);
    expect(folderAsked()).toBeUndefined();
    removeFolder(cache);
    writeFileSync(cache, "");
    expect(folderAsked()).toBeUndefined();
  });

  // Only root can give files away, as in CI
  test.runIf(process.geteuid?.() === 0)("the folder or the program belongs to another user", () => {
    mkdirSync(cache, { mode: 0o700 });
    chownSync(cache, ANOTHER_USER, ANOTHER_USER);
    expect(folderAsked()).toBeUndefined();
    removeFolder(cache);
    const root = dirname(dirname(cache));
    chownSync(root, ANOTHER_USER, ANOTHER_USER);
    try {
      expect(folderAsked()).toBeUndefined();
      expect(existsSync(cache)).toBe(false);
    } finally {
      chownSync(root, 0, 0);
    }
  });
});

test("the user's own cache, and none, are left to Node", () => {
  expect(folderAsked({ NODE_COMPILE_CACHE: join(folder, "own") })).toBeUndefined();
  expect(folderAsked({ NODE_DISABLE_COMPILE_CACHE: "1" })).toBeUndefined();
  expect(existsSync(cache)).toBe(false);
});

test("what many versions of Node have left is removed", () => {
  const left = (count: number): readonly string[] => {
    for (let n = 0; n < count; n++) mkdirSync(join(cache, `v22.${n}.0-x64-0123abcd-0`, "nested"), { recursive: true });
    chmodSync(cache, 0o700);
    expect(folderAsked()).toBe(cache);
    return readdirSync(cache);
  };
  expect(left(6)).toHaveLength(6);
  expect(left(7)).toEqual([]);
});

test("a cache that is damaged, or that several write at once, changes nothing; Node 20 keeps none", () => {
  const settings = (): string => run(["config", "--json"]).stdout;
  const whole = settings();
  expect(JSON.parse(whole)).toBeTypeOf("object");
  const files = (): readonly string[] =>
    (existsSync(cache) ? readdirSync(cache, { recursive: true, encoding: "utf8" }) : [])
      .map((path) => join(cache, path))
      .filter((path) => statSync(path).isFile());
  expect(files().length > 3).toBe("enableCompileCache" in module);
  for (const damage of [
    (content: Buffer) => content.fill("x", content.length / 2),
    (content: Buffer) => content.subarray(0, 40),
    () => Buffer.alloc(0),
  ]) {
    for (const path of files()) writeFileSync(path, damage(readFileSync(path)));
    expect(settings()).toBe(whole);
  }
  removeFolder(cache);
  const several = `for n in 1 2 3 4; do "$0" "$1" config --json & done; wait`;
  const { stdout } = spawnSync("sh", ["-c", several, process.execPath, program], {
    env: { PATH: process.env["PATH"], HOME: join(folder, "home") },
    encoding: "utf8",
  });
  expect(stdout).toBe(whole.repeat(4));
  expect(settings()).toBe(whole);
});

test("the copy that hooks use is the same with its cache, and goes with it", () => {
  const share = join(folder, "home", ".local", "share", "openhook-otel");
  mkdirSync(join(folder, "home", ".claude"), { recursive: true });
  const enable = () => expect(run(["enable", "claude-code"])).toMatchObject({ status: 0 });
  enable();
  const caches = join(share, VERSION, "node_modules", ".compile-cache", "v22.1.0-x64-0123abcd-0");
  mkdirSync(caches, { recursive: true });
  writeFileSync(join(caches, "0123abcd"), "");
  enable();
  expect(readdirSync(share).filter((name) => /^\d/.test(name))).toEqual([VERSION]);
  expect(run(["uninstall", "--yes"])).toMatchObject({ status: 0 });
  expect(existsSync(share)).toBe(false);
});
