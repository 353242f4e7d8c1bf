import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readRepository, withoutCredentials } from "../../src/repository/read.ts";

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

describe("readRepository says what git says", () => {
  test("on a branch", async () => {
    const { path, revision } = repository();
    expect(await readRepository(path)).toEqual({ name: "acme-shop", branch: "main", revision });
    git(path, "checkout", "--quiet", "-b", "fix/über-basket");
    expect((await readRepository(path))?.branch).toBe("fix/über-basket");
  });

  test("from a folder below", async () => {
    const { path, revision } = repository();
    mkdirSync(join(path, "src", "deep"), { recursive: true });
    expect(await readRepository(join(path, "src", "deep"))).toMatchObject({ name: "acme-shop", revision });
  });

  test("detached: a revision and no branch", async () => {
    const { path, revision } = repository();
    git(path, "checkout", "--quiet", "--detach");
    expect(await readRepository(path)).toEqual({ name: "acme-shop", revision });
  });

  test("with packed refs", async () => {
    const { path, revision } = repository();
    git(path, "branch", "other-main");
    git(path, "commit", "--quiet", "--allow-empty", "-m", "second");
    git(path, "pack-refs", "--all");
    const second = git(path, "rev-parse", "HEAD");
    expect(second).not.toBe(revision);
    expect(await readRepository(path)).toMatchObject({ branch: "main", revision: second });
  });

  test("before the first commit: a branch and no revision", async () => {
    const path = join(dir, "fresh");
    mkdirSync(path);
    git(path, "init", "--quiet");
    git(path, "symbolic-ref", "HEAD", "refs/heads/main");
    expect(await readRepository(path)).toEqual({ name: "fresh", branch: "main" });
  });

  test("with SHA-256 object names", async () => {
    const path = join(dir, "acme-vault");
    mkdirSync(path);
    git(path, "init", "--quiet", "--object-format=sha256");
    git(path, "commit", "--quiet", "--allow-empty", "-m", "first");
    expect((await readRepository(path))?.revision).toBe(git(path, "rev-parse", "HEAD"));
  });

  test("a worktree has its own branch, and the repository's remote", async () => {
    const { path } = repository();
    git(path, "remote", "add", "origin", "https://git.example/acme/acme-shop.git");
    git(path, "worktree", "add", "--quiet", "-b", "side", join(dir, "side-tree"));
    git(join(dir, "side-tree"), "commit", "--quiet", "--allow-empty", "-m", "beside");
    expect(await readRepository(join(dir, "side-tree"))).toEqual({
      name: "acme-shop",
      url: "https://git.example/acme/acme-shop.git",
      branch: "side",
      revision: git(join(dir, "side-tree"), "rev-parse", "HEAD"),
    });
  });

  test("a submodule is a repository of its own", async () => {
    const [outer, inner] = [repository(), repository("acme-theme")];
    const allowed = ["-c", "protocol.file.allow=always"];
    git(outer.path, ...allowed, "submodule", "--quiet", "add", inner.path, "theme");
    expect(await readRepository(join(outer.path, "theme"))).toMatchObject({
      name: "acme-theme",
      branch: "main",
      revision: inner.revision,
    });
  });

  test("origin comes before other remotes, any other before none", async () => {
    const { path } = repository();
    git(path, "remote", "add", "fork", "https://git.example/dev/shop-fork.git");
    expect((await readRepository(path))?.name).toBe("shop-fork");
    git(path, "remote", "add", "origin", "https://git.example/acme/acme-shop.git");
    expect((await readRepository(path))?.name).toBe("acme-shop");
  });

  test("credentials in a remote stay here", async () => {
    const { path } = repository();
    git(path, "remote", "add", "origin", "https://dev:s3cret@git.example:8443/acme/acme-shop.git?token=s3cret");
    const read = await readRepository(path);
    expect(read).toMatchObject({ name: "acme-shop", url: "https://git.example:8443/acme/acme-shop.git" });
    expect(JSON.stringify(read)).not.toContain("s3cret");
  });

  test("also in one without a path", async () => {
    const { path } = repository();
    git(path, "remote", "add", "origin", "https://dev:s3cret@gitbox/");
    expect(await readRepository(path)).toMatchObject({ name: "gitbox", url: "https://gitbox/" });
  });

  test("a remote that is a folder of this machine gives a name, no address", async () => {
    const { path } = repository();
    git(path, "remote", "add", "origin", "/home/dev/mirrors/acme-shop.git");
    const read = await readRepository(path);
    expect(read?.name).toBe("acme-shop");
    expect(read).not.toHaveProperty("url");
  });
});

describe("readRepository of something else", () => {
  test.each(["", "relative/path", "/home/dev/nowhere/at/all"])("%j: nothing", async (folder) => {
    expect(await readRepository(folder)).toBeUndefined();
  });

  test("a folder in no repository: nothing", async () => {
    expect(await readRepository(dir)).toBeUndefined();
  });

  test("a .git that is empty: the folder's name", async () => {
    mkdirSync(join(dir, "acme-shop", ".git"), { recursive: true });
    expect(await readRepository(join(dir, "acme-shop"))).toEqual({ name: "acme-shop" });
  });

  test("a .git file that names nothing: nothing", async () => {
    mkdirSync(join(dir, "acme-shop"));
    writeFileSync(join(dir, "acme-shop", ".git"), "hello\n");
    expect(await readRepository(join(dir, "acme-shop"))).toBeUndefined();
  });

  test("a .git file that names what is gone: the folder's name", async () => {
    mkdirSync(join(dir, "acme-shop"));
    writeFileSync(join(dir, "acme-shop", ".git"), "gitdir: ../gone/.git\n");
    expect(await readRepository(join(dir, "acme-shop"))).toEqual({ name: "acme-shop" });
  });

  test("a HEAD and a ref of nonsense: no branch, no revision", async () => {
    const { path } = repository();
    writeFileSync(join(path, ".git", "HEAD"), "\u0000\u0001 nonsense");
    expect(await readRepository(path)).toEqual({ name: "acme-shop" });
    writeFileSync(join(path, ".git", "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(path, ".git", "refs", "heads", "main"), "not a hash\n");
    expect(await readRepository(path)).toEqual({ name: "acme-shop", branch: "main" });
  });

  test("files too large to be git's are not read", async () => {
    const { path } = repository();
    writeFileSync(join(path, ".git", "HEAD"), `ref: refs/heads/${"x".repeat(2 << 20)}`);
    expect(await readRepository(path)).toEqual({ name: "acme-shop" });
  });

  test.skipIf(process.platform === "win32")(
    "a FIFO in HEAD's place holds nobody",
    async () => {
      const { path } = repository();
      rmSync(join(path, ".git", "HEAD"));
      execFileSync("mkfifo", [join(path, ".git", "HEAD")]);
      expect(await readRepository(path)).toEqual({ name: "acme-shop" });
    },
    5_000,
  );

  test("a ref that leads out of the repository is not followed", async () => {
    const { path } = repository();
    writeFileSync(join(dir, "outside"), `${"a".repeat(40)}\n`);
    writeFileSync(join(path, ".git", "HEAD"), "ref: refs/heads/../../../../outside\n");
    expect((await readRepository(path))?.revision).toBeUndefined();
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
  ["", undefined],
])("withoutCredentials %j", (url, expected) => {
  expect(withoutCredentials(url)).toBe(expected);
});
