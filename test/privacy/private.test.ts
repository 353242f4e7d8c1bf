import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exposedFiles } from "#check/health/facts/tried.ts";
import { checkOwner, closeFiles, StateError } from "#config/file-owner.ts";
import { contextAt } from "../support/context.ts";
import { InboxFixture } from "../support/inbox-fixture.ts";

const me = process.getuid?.() ?? 0;
const otherUser = me + 4321;

describe("the state directory", () => {
  let root = "";
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "openhook-private-"));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
  const state = () => join(root, "state");

  test("may belong to this user, be missing, or be the user's own link", async () => {
    expect(await checkOwner(state(), { uid: me })).toEqual([]);
    mkdirSync(state());
    expect(await checkOwner(state(), { uid: me })).toEqual([]);
    symlinkSync(state(), join(root, "link"));
    expect(await checkOwner(join(root, "link"), { uid: me })).toEqual([]);
  });

  test("of another user is refused, with advice", async () => {
    mkdirSync(state());
    await expect(checkOwner(state(), { uid: otherUser })).rejects.toThrow(StateError);
    await expect(checkOwner(state(), { uid: otherUser })).rejects.toThrow(
      new RegExp(
        `the state directory ".*" belongs to user ${me}, not to user ${otherUser}; .*chown.*OPENHOOK_OTEL_HOME`,
      ),
    );
  });

  test("behind another user's link or a dangling link is refused", async () => {
    mkdirSync(state());
    symlinkSync(state(), join(root, "link"));
    await expect(checkOwner(join(root, "link"), { uid: otherUser })).rejects.toThrow(/is a link that belongs to user/);
    symlinkSync(join(root, "gone"), join(root, "dangling"));
    await expect(checkOwner(join(root, "dangling"), { uid: me })).rejects.toThrow(/is a dangling link/);
  });

  test.skipIf(me !== 0)("of another user is used by root, with a warning", async () => {
    mkdirSync(state());
    chownSync(state(), otherUser, otherUser);
    expect((await checkOwner(state(), { uid: 0 })).join()).toMatch(/belongs to user/);
  });

  test("in a folder that others can write to is used, with a warning", async () => {
    mkdirSync(state());
    chmodSync(root, 0o777);
    expect((await checkOwner(state(), { uid: me })).join()).toMatch(/can be written by others.*chmod go-w/);
    chmodSync(root, 0o1777);
    expect(await checkOwner(state(), { uid: me })).toEqual([]);
  });

  test("gets private files; programs and links stay unchanged", async () => {
    mkdirSync(state());
    for (const name of ["store.db", "drain.log", "drain.log.1", "hook"]) writeFileSync(join(state(), name), "x");
    for (const name of ["store.db", "drain.log.1"]) chmodSync(join(state(), name), 0o644);
    chmodSync(join(state(), "drain.log"), 0o600);
    chmodSync(join(state(), "hook"), 0o755);
    writeFileSync(join(root, "target"), "x");
    chmodSync(join(root, "target"), 0o644);
    symlinkSync(join(root, "target"), join(state(), "link"));
    expect((await closeFiles(state(), { uid: me })).map((path) => path.slice(state().length + 1)).sort()).toEqual([
      "drain.log.1",
      "store.db",
    ]);
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect(["store.db", "drain.log", "drain.log.1", "hook"].map((name) => mode(join(state(), name)))).toEqual([
      "600",
      "600",
      "600",
      "755",
    ]);
    expect(mode(join(root, "target"))).toBe("644");
    expect(await closeFiles(state(), { uid: me })).toEqual([]);
  });
});

describe("a drain", () => {
  test("restores private modes, and doctor reports others", async () => {
    const inbox = new InboxFixture();
    try {
      await inbox.drain();
      const { stateDir, inboxDir, storePath } = inbox.places;
      chmodSync(stateDir, 0o755);
      chmodSync(inboxDir, 0o777);
      chmodSync(storePath, 0o644);
      writeFileSync(join(stateDir, "drain.log.1"), "x");
      chmodSync(join(stateDir, "drain.log.1"), 0o644);
      const { context } = contextAt(inbox.places);
      expect((await exposedFiles(context)).map(({ path }) => path).sort()).toEqual(
        [stateDir, inboxDir, storePath, join(stateDir, "drain.log.1")].sort(),
      );
      await inbox.drain();
      expect(await exposedFiles(context)).toEqual([]);
    } finally {
      inbox.remove();
    }
  });
});
