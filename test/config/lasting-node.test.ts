import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lastingNode } from "#config/own-program.ts";
import { removeFolder } from "../support/remove.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "openhook-node-")));
});
afterEach(() => removeFolder(root));

function node(...folders: readonly string[]): string {
  const bin = join(root, ...folders, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "node"), "");
  return join(bin, "node");
}

it("fnm: uses the version's own folder, because the folder in PATH ends with the terminal", () => {
  const path = node("fnm", "node-versions", "v22.21.0", "installation");
  mkdirSync(join(root, "fnm_multishells"));
  symlinkSync(join(root, "fnm", "node-versions", "v22.21.0", "installation"), join(root, "fnm_multishells", "712_17"));
  expect(lastingNode(join(root, "fnm_multishells", "712_17", "bin", "node"), "/home/dev")).toBe(path);
  expect(lastingNode("/gone/fnm_multishells/1/node", "/home/dev")).toBe("/gone/fnm_multishells/1/node");
  // The default version's link outlives the version
  mkdirSync(join(root, "fnm", "aliases"));
  symlinkSync(join("..", "node-versions", "v22.21.0", "installation"), join(root, "fnm", "aliases", "default"));
  const lasting = join(root, "fnm", "aliases", "default", "bin", "node");
  expect(lastingNode(join(root, "fnm_multishells", "712_17", "bin", "node"), "/home/dev")).toBe(lasting);
  expect(lastingNode(path, "/home/dev")).toBe(lasting);
});

it("Scoop and WinGet: uses the link to the current version", () => {
  const version = join(root, "scoop", "apps", "nodejs-lts", "22.21.0");
  mkdirSync(version, { recursive: true });
  writeFileSync(join(version, "node.exe"), "");
  expect(lastingNode(join(version, "node.exe"), root)).toBe(join(version, "node.exe"));
  symlinkSync("22.21.0", join(root, "scoop", "apps", "nodejs-lts", "current"));
  expect(lastingNode(join(version, "node.exe"), root)).toBe(join(version, "..", "current", "node.exe"));

  const packaged = join(root, "WinGet", "Packages", "OpenJS.NodeJS_1", "node-v22.21.0-win-x64");
  mkdirSync(packaged, { recursive: true });
  mkdirSync(join(root, "WinGet", "Links"));
  writeFileSync(join(packaged, "node.exe"), "");
  symlinkSync(join(packaged, "node.exe"), join(root, "WinGet", "Links", "node.exe"));
  expect(lastingNode(join(packaged, "node.exe"), root)).toBe(join(root, "WinGet", "Links", "node.exe"));
});

describe("Homebrew", () => {
  it("uses the link that survives an update, also for a versioned formula", () => {
    for (const [formula, version] of [
      ["node", "26.1.0_1"],
      ["node@22", "22.20.0"],
    ] as const) {
      const path = node("Cellar", formula, version);
      expect(lastingNode(path, "/Users/dev")).toBe(path);
      mkdirSync(join(root, "opt"), { recursive: true });
      symlinkSync(join("..", "Cellar", formula, version), join(root, "opt", formula));
      expect(lastingNode(path, "/Users/dev")).toBe(join(root, "opt", formula, "bin", "node"));
    }
  });

  it("keeps the path if the link leads to another version", () => {
    const old = node("Cellar", "node", "24.0.0");
    node("Cellar", "node", "26.0.0");
    mkdirSync(join(root, "opt"));
    symlinkSync(join("..", "Cellar", "node", "26.0.0"), join(root, "opt", "node"));
    expect(lastingNode(old, "/Users/dev")).toBe(old);
    rmSync(join(root, "opt", "node"));
    expect(lastingNode(old, "/Users/dev")).toBe(old);
  });
});

it("keeps any other path", () => {
  for (const path of ["/usr/bin/node", "/Users/dev/.nvm/versions/node/v22.1.0/bin/node", "C:\\nodejs\\node.exe"])
    expect(lastingNode(path, "/Users/dev")).toBe(path);
});
