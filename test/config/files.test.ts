import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FileError, missingParent, readFileIfAny, removeFile, writeFileAtomic } from "#config/files.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "openhook-files-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const failure = async (run: Promise<unknown>): Promise<FileError> => {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof FileError)) throw new Error(`no FileError: ${String(error)}`);
  return error;
};

describe.skipIf(process.platform === "win32")("writing", () => {
  it("creates parents and a private file, and leaves nothing else", async () => {
    const path = join(dir, "a", "b", "settings.json");
    await writeFileAtomic(path, "{}\n");
    expect(await readFile(path, "utf8")).toBe("{}\n");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(dir, "a", "b"))).toEqual(["settings.json"]);
  });

  it("keeps an existing file's mode, unless forceMode is set", async () => {
    const path = join(dir, "settings.json");
    await writeFile(path, "old");
    await chmod(path, 0o640);
    await writeFileAtomic(path, "new", { mode: 0o600 });
    expect((await stat(path)).mode & 0o777).toBe(0o640);
    await writeFileAtomic(path, "new", { mode: 0o755, forceMode: true });
    expect((await stat(path)).mode & 0o777).toBe(0o755);
  });

  it.skipIf(process.getuid?.() !== 0)("keeps the owner", async () => {
    const path = join(dir, "settings.json");
    await writeFile(path, "old");
    const { chown } = await import("node:fs/promises");
    await chown(path, 12_345, 23_456);
    await writeFileAtomic(path, "new");
    expect(await stat(path)).toMatchObject({ uid: 12_345, gid: 23_456 });
  });

  it("replaces the file, so that open readers still see the complete old one", async () => {
    const path = join(dir, "settings.json");
    await writeFile(path, "old");
    await link(path, join(dir, "seen-by-a-reader"));
    await writeFileAtomic(path, "new");
    expect(await readFile(join(dir, "seen-by-a-reader"), "utf8")).toBe("old");
  });

  it("follows links to links, relative ones too, and keeps them", async () => {
    await mkdir(join(dir, "dotfiles"));
    await writeFile(join(dir, "dotfiles", "claude.json"), "old");
    await symlink("dotfiles/claude.json", join(dir, "middle"));
    await symlink(join(dir, "middle"), join(dir, "settings.json"));
    await writeFileAtomic(join(dir, "settings.json"), "new");
    expect(await readlink(join(dir, "settings.json"))).toBe(join(dir, "middle"));
    expect(await readFile(join(dir, "dotfiles", "claude.json"), "utf8")).toBe("new");
  });

  it("creates the target of a dangling link", async () => {
    await symlink("later/claude.json", join(dir, "settings.json"));
    await writeFileAtomic(join(dir, "settings.json"), "new");
    expect(await readFile(join(dir, "later", "claude.json"), "utf8")).toBe("new");
    expect((await lstat(join(dir, "settings.json"))).isSymbolicLink()).toBe(true);
    await removeFile(join(dir, "settings.json"));
    expect(await readdir(join(dir, "later"))).toEqual([]);
  });

  it("refuses anything but a writable file, with the reason, and changes nothing", async () => {
    const file = join(dir, "file");
    await writeFile(file, "old");
    expect((await failure(writeFileAtomic(join(file, "settings.json"), "x"))).message).toContain("not a directory");
    expect((await failure(writeFileAtomic(dir, "x"))).message).toMatch(/^cannot write ".*": it is a directory$/);
    await symlink("circle", join(dir, "circle"));
    expect((await failure(writeFileAtomic(join(dir, "circle"), "x"))).message).toContain("form a cycle");
    await chmod(file, 0o444);
    expect((await failure(writeFileAtomic(file, "x"))).message).toContain("read-only");
    expect(await readFile(file, "utf8")).toBe("old");
    expect((await readdir(dir)).sort()).toEqual(["circle", "file"]);
  });

  it("does not overwrite what another program wrote in the meantime", async () => {
    const path = join(dir, "settings.json");
    await writeFile(path, "theirs");
    expect(await failure(writeFileAtomic(path, "ours", { expect: Buffer.from("old") }))).toMatchObject({
      code: "E_FILE_CHANGED",
    });
    expect(await failure(writeFileAtomic(path, "ours", { expect: null }))).toMatchObject({ code: "E_FILE_CHANGED" });
    expect(await readFile(path, "utf8")).toBe("theirs");
    await writeFileAtomic(path, "ours", { expect: Buffer.from("theirs") });
    expect(await readdir(dir)).toEqual(["settings.json"]);
  });

  it("many concurrent writes leave one complete file", async () => {
    const path = join(dir, "settings.json");
    const texts = Array.from({ length: 20 }, (_, index) => `${index}`.repeat(10_000));
    await Promise.all(texts.map((text) => writeFileAtomic(path, text)));
    expect(texts).toContain(await readFile(path, "utf8"));
    expect(await readdir(dir)).toEqual(["settings.json"]);
  });
});

describe("reading", () => {
  it("a missing file is undefined, a directory is an error", async () => {
    expect(await readFileIfAny(join(dir, "none"))).toBeUndefined();
    expect((await failure(readFileIfAny(dir))).message).toContain("it is a directory");
  });

  it("finds the topmost missing directory", async () => {
    expect(await missingParent(join(dir, "settings.json"))).toBeUndefined();
    expect(await missingParent(join(dir, "a", "b", "settings.json"))).toBe(join(dir, "a"));
  });
});
