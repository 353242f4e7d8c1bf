import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readRepository } from "#config/repository/read.ts";
import { systemGitConfig } from "#config/repository/user-settings.ts";

// One repository has one address, however its user names it

let home = "";
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "openhook-address-")));
});
afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));

function git(cwd: string, ...args: string[]): string {
  const env = { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  return execFileSync("git", ["-c", "init.defaultBranch=main", ...args], {
    cwd,
    env,
    encoding: "utf8",
    stdio: "pipe",
  }).trim();
}
function put(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
}
function repository(url?: string, name = "work/shop"): string {
  const path = join(home, name);
  mkdirSync(path, { recursive: true });
  git(path, "init", "--quiet");
  if (url !== undefined) git(path, "remote", "add", "origin", url);
  return path;
}
const urlOf = async (path: string) => (await readRepository(path, home))?.url;

describe("insteadOf, as git applies it", () => {
  test.each([
    ["in ~/.gitconfig", '[url "https://github.com/"]\n\tinsteadOf = gh:\n', "gh:acme/shop"],
    ["two of them", '[url "https://github.com/"]\ninsteadOf = gh:\ninsteadOf = hub:\n', "hub:acme/shop"],
    [
      "the longest",
      '[url "https://git.example/"]\ninsteadOf = a:\n[url "https://github.com/acme/"]\ninsteadOf = a:b/\n[url "https://x.example/"]\ninsteadOf = a:b\n',
      "a:b/shop",
    ],
    [
      "in quotes, with a comment",
      '[url "ssh://git@github.com/"] # mine\n  insteadOf = "https://github.com/" ; all\n',
      "https://github.com/acme/shop",
    ],
    ["in another case", '[URL "https://github.com/"]\nINSTEADOF = gh:\n', "gh:acme/shop"],
    ["none that fits", '[url "https://github.com/"]\ninsteadOf = gh:\n', "https://git.example/acme/shop"],
  ])("%s", async (_, settings, url) => {
    put(".gitconfig", settings);
    const path = repository(url);
    const real = new URL(git(path, "remote", "get-url", "origin"));
    real.username = "";
    expect(await urlOf(path)).toBe(String(real));
  });

  test("in an included file, and in one for the folder only", async () => {
    put(
      ".gitconfig",
      '[include]\npath = git/all\n[includeIf "gitdir:~/work/"]\npath = ~/git/work\n[includeIf "gitdir:~/private/"]\npath = git/private\n',
    );
    put("git/all", '[url "https://github.com/"]\ninsteadOf = gh:\n');
    put("git/work", '[url "https://git.work.example/"]\ninsteadOf = w:\n');
    put("git/private", '[url "https://git.private.example/"]\ninsteadOf = w:\n');
    for (const [url, name] of [
      ["gh:acme/shop", "work/a"],
      ["w:acme/shop", "work/b"],
      ["w:acme/shop", "private/c"],
    ]) {
      const path = repository(url, name);
      expect(await urlOf(path)).toBe(git(path, "remote", "get-url", "origin"));
    }
  });

  test("files that include each other end", async () => {
    const path = repository("gh:acme/shop");
    put(".gitconfig", '[include]\npath = .gitconfig\n[url "https://github.com/"]\ninsteadOf = gh:\n');
    expect(await urlOf(path)).toBe("https://github.com/acme/shop");
  });
});

test("settings for the whole machine are read where only administrators can write", () => {
  // Windows takes /etc for a folder of the current drive, which every user can create
  expect(systemGitConfig("win32")).toMatch(/^C:\\Program Files\\/);
  expect(["linux", "darwin"].map((one) => systemGitConfig(one as NodeJS.Platform))).toEqual(
    Array(2).fill("/etc/gitconfig"),
  );
});

describe("a Host of the ssh settings", () => {
  test.each([
    [
      "an alias",
      "Host github.com-work\n  HostName github.com\n  User git\n",
      "git@github.com-work:acme/shop.git",
      "github.com/acme/shop.git",
    ],
    ["with =", "host=gh\nhostname = github.com\n", "ssh://git@gh/acme/shop", "github.com/acme/shop"],
    ["a pattern with %h", "Host *-git\n HostName %h.example\n", "a-git:acme/shop", "a-git.example/acme/shop"],
    ["not for this one", "Host !gh g*\n HostName git.example\n", "gh:acme/shop", "gh/acme/shop"],
    [
      "the first value",
      "Host gh\n HostName github.com\nHost *\n HostName git.example\n",
      "gh:acme/shop",
      "github.com/acme/shop",
    ],
    [
      "for a condition, which is not evaluated",
      'Match host gh exec "touch ran"\n HostName git.example\n',
      "gh:acme/shop",
      "gh/acme/shop",
    ],
    [
      "port 443 of GitHub",
      "Host github.com\n HostName ssh.github.com\n Port 443\n",
      "git@github.com:acme/shop.git",
      "github.com/acme/shop.git",
    ],
    [
      "a number",
      "Host git.example\n HostName 10.0.0.7\n",
      "git@git.example:acme/shop.git",
      "git.example/acme/shop.git",
    ],
    ["none", "", "ssh://git@ssh.github.com:443/acme/shop.git", "github.com/acme/shop.git"],
    [
      "https, which ssh does not open",
      "Host github.com\n HostName git.example\n",
      "https://github.com/acme/shop",
      undefined,
    ],
  ])("%s", async (_, settings, url, expected) => {
    put(".ssh/config", settings);
    expect(await urlOf(repository(url))).toBe(expected === undefined ? url : `ssh://${expected}`);
  });

  test("in an included file", async () => {
    put(".ssh/config", "Include conf.d/*.conf\n");
    put(".ssh/conf.d/work.conf", "Host gh\n  HostName github.com\n");
    expect(await urlOf(repository("gh:acme/shop"))).toBe("ssh://github.com/acme/shop");
  });
});

describe("layouts", () => {
  test("a bare repository beside its worktrees: all are one repository", async () => {
    const main = repository(undefined, "source");
    git(main, "-c", "user.name=d", "-c", "user.email=d@d.example", "commit", "--quiet", "--allow-empty", "-m", "first");
    mkdirSync(join(home, "shop"));
    git(home, "clone", "--quiet", "--bare", main, "shop/.bare");
    git(join(home, "shop"), "--git-dir=.bare", "remote", "remove", "origin");
    writeFileSync(join(home, "shop", ".git"), "gitdir: ./.bare\n");
    git(join(home, "shop"), "worktree", "add", "--quiet", "fix");
    expect(await readRepository(join(home, "shop"), home)).toMatchObject({ name: "shop" });
    expect(await readRepository(join(home, "shop", "fix"), home)).toMatchObject({ name: "shop", branch: "fix" });
  });

  test("jj without .git, and a further workspace of it", async () => {
    const store = join(home, "shop", ".jj", "repo", "store");
    mkdirSync(join(store, "git"), { recursive: true });
    git(join(store, "git"), "init", "--quiet", "--bare");
    writeFileSync(join(store, "git_target"), "git");
    const named = { name: "shop" };
    expect(await readRepository(join(home, "shop"), home)).toEqual(named);
    put("second/.jj/repo", "../../shop/.jj/repo");
    expect(await readRepository(join(home, "second"), home)).toEqual(named);
    git(join(store, "git"), "remote", "add", "origin", "https://git.example/acme/shop.git");
    for (const path of ["shop", "second"])
      expect(await readRepository(join(home, path), home)).toEqual({
        ...named,
        url: "https://git.example/acme/shop.git",
      });
  });

  test("a home that is a repository of settings gives no project its name, and never the user's", async () => {
    git(home, "init", "--quiet");
    put(".config/editor/settings", "x\n");
    git(home, "add", ".config");
    mkdirSync(join(home, "loose", "project"), { recursive: true });
    expect(await readRepository(join(home, "loose", "project"), home)).toBeUndefined();
    expect(await readRepository(home, home)).toMatchObject({ name: "~" });
    expect(await readRepository(join(home, ".config", "editor"), home)).toMatchObject({ name: "~" });
    expect(await readRepository(repository("https://git.example/acme/shop"), home)).toMatchObject({ name: "shop" });
  });
});
