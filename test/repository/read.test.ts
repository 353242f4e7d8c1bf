import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { nameOf, readRepository, withoutCredentials } from "#config/repository/read.ts";

/** A home without settings. */
const HOME = "/home/dev/nowhere";

let dir = "";
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "openhook-repository-")));
});
afterEach(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));

/** Git with no settings of this machine. */
function git(cwd: string, ...args: string[]): string {
  const env = {
    PATH: process.env["PATH"],
    HOME: dir,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: join(dir, "no-such-file"),
    GIT_AUTHOR_NAME: "dev",
    GIT_AUTHOR_EMAIL: "dev@acme.example",
    GIT_COMMITTER_NAME: "dev",
    GIT_COMMITTER_EMAIL: "dev@acme.example",
  };
  return execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: "pipe" }).trim();
}

/** A repository with one commit on `main`. */
function repository(name = "acme-shop"): { readonly path: string; readonly revision: string } {
  const path = join(dir, name);
  mkdirSync(path);
  git(path, "init", "--quiet");
  git(path, "symbolic-ref", "HEAD", "refs/heads/main");
  git(path, "commit", "--quiet", "--allow-empty", "-m", "first");
  return { path, revision: git(path, "rev-parse", "HEAD") };
}

describe("readRepository returns what git reports", () => {
  test("on a branch", async () => {
    const { path, revision } = repository();
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop", branch: "main", revision });
    git(path, "checkout", "--quiet", "-b", "fix/über-basket");
    expect((await readRepository(path, HOME))?.branch).toBe("fix/über-basket");
  });

  test("from a folder below", async () => {
    const { path, revision } = repository();
    mkdirSync(join(path, "src", "deep"), { recursive: true });
    expect(await readRepository(join(path, "src", "deep"), HOME)).toMatchObject({ name: "acme-shop", revision });
  });

  test("detached: a revision and no branch", async () => {
    const { path, revision } = repository();
    git(path, "checkout", "--quiet", "--detach");
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop", revision });
  });

  test("with packed refs", async () => {
    const { path, revision } = repository();
    git(path, "branch", "other-main");
    git(path, "commit", "--quiet", "--allow-empty", "-m", "second");
    git(path, "pack-refs", "--all");
    const second = git(path, "rev-parse", "HEAD");
    expect(second).not.toBe(revision);
    expect(await readRepository(path, HOME)).toMatchObject({ branch: "main", revision: second });
  });

  test("before the first commit: a branch and no revision", async () => {
    const path = join(dir, "fresh");
    mkdirSync(path);
    git(path, "init", "--quiet");
    git(path, "symbolic-ref", "HEAD", "refs/heads/main");
    expect(await readRepository(path, HOME)).toEqual({ name: "fresh", branch: "main" });
  });

  test("with SHA-256 object names", async () => {
    const path = join(dir, "acme-vault");
    mkdirSync(path);
    git(path, "init", "--quiet", "--object-format=sha256");
    git(path, "commit", "--quiet", "--allow-empty", "-m", "first");
    expect((await readRepository(path, HOME))?.revision).toBe(git(path, "rev-parse", "HEAD"));
  });

  test("a worktree has its own branch, and the repository's remote", async () => {
    const { path } = repository();
    git(path, "remote", "add", "origin", "https://git.example/acme/acme-shop.git");
    git(path, "worktree", "add", "--quiet", "-b", "side", join(dir, "side-tree"));
    git(join(dir, "side-tree"), "commit", "--quiet", "--allow-empty", "-m", "beside");
    expect(await readRepository(join(dir, "side-tree"), HOME)).toEqual({
      name: "acme-shop",
      url: "https://git.example/acme/acme-shop.git",
      branch: "side",
      revision: git(join(dir, "side-tree"), "rev-parse", "HEAD"),
    });
  });

  test("without a remote, all worktrees have the repository's name", async () => {
    const { path } = repository();
    git(path, "worktree", "add", "--quiet", "-b", "side", join(dir, "side-tree"));
    expect(await readRepository(join(dir, "side-tree"), HOME)).toMatchObject({ name: "acme-shop", branch: "side" });
    git(dir, "clone", "--quiet", "--bare", path, join(dir, "acme-store.git"));
    git(join(dir, "acme-store.git"), "remote", "remove", "origin");
    git(join(dir, "acme-store.git"), "worktree", "add", "--quiet", "-b", "below", join(dir, "below-tree"));
    expect(await readRepository(join(dir, "below-tree"), HOME)).toMatchObject({ name: "acme-store", branch: "below" });
  });

  test("with references in tables, the branch is unknown", async () => {
    const { path } = repository();
    // As `git init --ref-format=reftable` leaves it
    writeFileSync(join(path, ".git", "HEAD"), "ref: refs/heads/.invalid\n");
    rmSync(join(path, ".git", "refs"), { recursive: true });
    mkdirSync(join(path, ".git", "refs"));
    writeFileSync(join(path, ".git", "refs", "heads"), "this repository uses the reftable format\n");
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop" });
  });

  test("a submodule is a separate repository", async () => {
    const [outer, inner] = [repository(), repository("acme-theme")];
    const allowed = ["-c", "protocol.file.allow=always"];
    git(outer.path, ...allowed, "submodule", "--quiet", "add", inner.path, "theme");
    expect(await readRepository(join(outer.path, "theme"), HOME)).toMatchObject({
      name: "acme-theme",
      branch: "main",
      revision: inner.revision,
    });
  });

  test("the name comes from origin, otherwise from the first remote", async () => {
    const { path } = repository();
    git(path, "remote", "add", "fork", "https://git.example/dev/shop-fork.git");
    expect((await readRepository(path, HOME))?.name).toBe("shop-fork");
    git(path, "remote", "add", "origin", "https://git.example/acme/acme-shop.git");
    expect((await readRepository(path, HOME))?.name).toBe("acme-shop");
  });

  test("credentials are removed from a remote's address", async () => {
    const { path } = repository();
    git(path, "remote", "add", "origin", "https://dev:s3cret@git.example:8443/acme/acme-shop.git?token=s3cret");
    const read = await readRepository(path, HOME);
    expect(read).toMatchObject({ name: "acme-shop", url: "https://git.example:8443/acme/acme-shop.git" });
    expect(JSON.stringify(read)).not.toContain("s3cret");
  });

  test("credentials are removed from an address without a path too", async () => {
    const { path } = repository();
    git(path, "remote", "add", "origin", "https://dev:s3cret@gitbox/");
    expect(await readRepository(path, HOME)).toMatchObject({ name: "gitbox", url: "https://gitbox/" });
  });

  test("a remote that is a folder of this machine gives a name, no address", async () => {
    const { path } = repository();
    git(path, "remote", "add", "origin", "/home/dev/mirrors/acme-shop.git");
    const read = await readRepository(path, HOME);
    expect(read?.name).toBe("acme-shop");
    expect(read).not.toHaveProperty("url");
  });
});

describe("readRepository of something else", () => {
  test.each(["", "relative/path", "/home/dev/nowhere/at/all"])("%j: nothing", async (folder) => {
    expect(await readRepository(folder, HOME)).toBeUndefined();
  });

  test("a folder in no repository: nothing", async () => {
    expect(await readRepository(dir, HOME)).toBeUndefined();
  });

  test("a .git that is empty: the folder's name", async () => {
    mkdirSync(join(dir, "acme-shop", ".git"), { recursive: true });
    expect(await readRepository(join(dir, "acme-shop"), HOME)).toEqual({ name: "acme-shop" });
  });

  test("a .git file that names nothing: nothing", async () => {
    mkdirSync(join(dir, "acme-shop"));
    writeFileSync(join(dir, "acme-shop", ".git"), "hello\n");
    expect(await readRepository(join(dir, "acme-shop"), HOME)).toBeUndefined();
  });

  test("a .git file that names a deleted folder: the folder's name", async () => {
    mkdirSync(join(dir, "acme-shop"));
    writeFileSync(join(dir, "acme-shop", ".git"), "gitdir: ../gone/.git\n");
    expect(await readRepository(join(dir, "acme-shop"), HOME)).toEqual({ name: "acme-shop" });
  });

  test("a HEAD and a ref of nonsense: no branch, no revision", async () => {
    const { path } = repository();
    writeFileSync(join(path, ".git", "HEAD"), "\u0000\u0001 nonsense");
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop" });
    writeFileSync(join(path, ".git", "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(path, ".git", "refs", "heads", "main"), "not a hash\n");
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop", branch: "main" });
  });

  test("files too large to be git's are not read", async () => {
    const { path } = repository();
    writeFileSync(join(path, ".git", "HEAD"), `ref: refs/heads/${"x".repeat(2 << 20)}`);
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop" });
  });

  const FILES = ["HEAD", "config", "commondir", "packed-refs"];

  test.skipIf(process.platform === "win32")("pipes do not block", async () => {
    const { path } = repository();
    for (const file of FILES) {
      rmSync(join(path, ".git", file), { force: true });
      execFileSync("mkfifo", [join(path, ".git", file)]);
    }
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop" });
  });

  // kmsg blocks its reader, pagemap has no end
  const SYSTEM = ["/proc/kmsg", "/proc/self/pagemap", "/proc/self/smaps", "/dev/zero", "/dev/tty"];
  test.runIf(process.platform === "linux").each(SYSTEM)("a link to %s is not read", async (to) => {
    const { path } = repository();
    for (const file of FILES) {
      rmSync(join(path, ".git", file), { force: true });
      symlinkSync(to, join(path, ".git", file));
    }
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop" });
  });

  test.runIf(process.platform === "linux")("a git directory of the system is not read", async () => {
    const { path } = repository();
    writeFileSync(join(path, ".git", "commondir"), "/proc/self/fd\n");
    expect(await readRepository(path, HOME)).toMatchObject({ branch: "main" });
    rmSync(join(path, ".git"), { recursive: true });
    writeFileSync(join(path, ".git"), "gitdir: /proc/self/root/proc/self\n");
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop" });
  });

  test("links that lead out of the git directory are not followed, others are", async () => {
    const { path, revision } = repository();
    writeFileSync(join(dir, "outside"), "ref: refs/heads/private\n");
    renameSync(join(path, ".git", "HEAD"), join(path, ".git", "HEAD-of-another"));
    symlinkSync("HEAD-of-another", join(path, ".git", "HEAD"));
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop", branch: "main", revision });
    rmSync(join(path, ".git", "HEAD"));
    symlinkSync(join(dir, "outside"), join(path, ".git", "HEAD"));
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop" });
  });

  test("names are limited, and large or odd files are read in linear time", async () => {
    const { path } = repository();
    writeFileSync(join(path, ".git", "HEAD"), `ref: refs/heads/${"x".repeat(3_000)}\n`);
    expect((await readRepository(path, HOME))?.branch).toHaveLength(256);
    writeFileSync(join(path, ".git", "HEAD"), `ref: refs/heads/${"x".repeat(1_000_000)}\n`);
    expect(await readRepository(path, HOME)).toEqual({ name: "acme-shop" });
    writeFileSync(join(path, ".git", "HEAD"), "ref: refs/heads/\u001b]0;pwn\u0007\n");
    expect((await readRepository(path, HOME))?.branch).not.toContain("\u001b");
    writeFileSync(join(path, ".git", "packed-refs"), "");
    truncateSync(join(path, ".git", "packed-refs"), 2 ** 40);
    for (const url of [`https://git.example/a/${"y".repeat(900_000)}.git`, `a${" ".repeat(900_000)}b`]) {
      writeFileSync(join(path, ".git", "config"), `[remote "origin"]\n\turl = ${url}\n`);
      expect((await readRepository(path, HOME))?.name).toBe("acme-shop");
    }
    appendFileSync(join(path, ".git", "config"), `\turl = https://git.example/acme/${"y".repeat(1_500)}.git\n`);
    const read = await readRepository(path, HOME);
    expect(read?.name).toBe("acme-shop");
    expect(read?.url).toHaveLength(1_529);
  });

  test("a ref that leads out of the repository is not followed", async () => {
    const { path } = repository();
    writeFileSync(join(dir, "outside"), `${"a".repeat(40)}\n`);
    writeFileSync(join(path, ".git", "HEAD"), "ref: refs/heads/../../../../outside\n");
    expect((await readRepository(path, HOME))?.revision).toBeUndefined();
  });
});

test.each([
  ["https://git.example/acme/shop.git", "https://git.example/acme/shop.git"],
  ["https://dev:s3cret@git.example/acme/shop.git", "https://git.example/acme/shop.git"],
  ["https://s3cret@git.example/acme/shop", "https://git.example/acme/shop"],
  ["https://git.example/acme/shop?token=s3cret#s3cret", "https://git.example/acme/shop"],
  ["http://git.example:3000/acme/shop.git", "http://git.example:3000/acme/shop.git"],
  ["git@git.example:acme/shop.git", "ssh://git.example/acme/shop.git"],
  ["git.example:acme/shop.git", "ssh://git.example/acme/shop.git"],
  ["ssh://git:s3cret@git.example:22/acme/shop.git", "ssh://git.example:22/acme/shop.git"],
  ["git://git.example/acme/shop.git", "git://git.example/acme/shop.git"],
  ["file:///home/dev/acme/shop.git", undefined],
  ["/home/dev/acme/shop.git", undefined],
  ["../shop.git", undefined],
  ["C:\\Users\\dev\\shop", undefined],
  ["C:/Users/dev/shop", undefined],
  ["ext::sh -c s3cret", undefined],
  // Without a scheme; git cannot use these, but people paste them
  ["oauth2:s3cret@git.example/acme/shop.git", "ssh://git.example/acme/shop.git"],
  ["oauth2:s3cret@git.example:acme/shop.git", "ssh://git.example/acme/shop.git"],
  ["s3cret@git.example:acme/shop.git", "ssh://git.example/acme/shop.git"],
  ["dev:s3@cret@git.example/acme/shop.git", "ssh://git.example/acme/shop.git"],
  ["dev:s3@cret:git.example:acme/shop.git", undefined],
  ["https://dev:12/s3cret@git.example/acme/shop.git", undefined],
  ["https://git.example/dev:s3cret%40git.example/shop.git", undefined],
  ["git@git.example:dev/s3cret@git.example/shop.git", undefined],
  ["https://git.example/@acme/shop.git", "https://git.example/@acme/shop.git"],
  [`https://git.example/${"a/".repeat(2_000)}`, undefined],
  ["", undefined],
])("withoutCredentials %j", (url, expected) => {
  expect(withoutCredentials(url)).toBe(expected);
});

test.each([
  ["https://git.example/acme/shop.git", "shop"],
  ["git@git.example:shop", "shop"],
  ["oauth2:s3cret@git.example", undefined],
  ["dev:s3cret@git.example/", undefined],
  ["/", undefined],
  [undefined, undefined],
])("nameOf %j", (url, expected) => {
  expect(nameOf(url)).toBe(expected);
});
