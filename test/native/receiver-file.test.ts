import { mkdirSync, mkdtempSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import {
  addToReceiver,
  nativeDir,
  readReceiver,
  receiverPath,
  removeFromReceiver,
} from "#collect/native/receiver-file.ts";

let stateDir: string;
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), "receiver-file-"));
});

test("the first agent chooses a free port and a token, the others share them, the last one removes the file", async () => {
  const first = await addToReceiver(stateDir, "qwen-code");
  expect(first.agents).toEqual(["qwen-code"]);
  expect(Buffer.from(first.token, "base64url")).toHaveLength(32);
  expect(first.port).toBeGreaterThanOrEqual(20_000);
  expect(first.port).toBeLessThan(32_768);
  await new Promise<void>((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(first.port, "127.0.0.1", () => server.close(() => resolve()));
  });
  const both = { ...first, agents: ["claude-code", "qwen-code"] };
  expect(await addToReceiver(stateDir, "claude-code")).toEqual(both);
  expect(await addToReceiver(stateDir, "claude-code"), "twice").toEqual(both);
  expect(readReceiver(stateDir)).toEqual(both);
  expect(await removeFromReceiver(stateDir, "qwen-code")).toEqual({ ...first, agents: ["claude-code"] });
  expect(await removeFromReceiver(stateDir, "qwen-code"), "twice").toEqual({ ...first, agents: ["claude-code"] });
  expect(await removeFromReceiver(stateDir, "claude-code")).toBeUndefined();
  expect(readReceiver(stateDir)).toBeUndefined();
  expect(await removeFromReceiver(stateDir, "claude-code")).toBeUndefined();
  expect((await addToReceiver(stateDir, "claude-code")).token, "another token").not.toBe(first.token);
});

test.skipIf(process.platform === "win32")("only the user can read folder and file", async () => {
  await addToReceiver(stateDir, "claude-code");
  expect(statSync(receiverPath(stateDir)).mode & 0o777).toBe(0o600);
  expect(statSync(nativeDir(stateDir)).mode & 0o777).toBe(0o700);
});

test.each([
  "",
  "{}",
  "null",
  '{"port":0,"token":"x","agents":[]}',
  `{"port":65536,"token":"${"x".repeat(43)}","agents":["claude-code"]}`,
  `{"port":20000,"token":"${"x".repeat(42)}","agents":["claude-code"]}`,
  `{"port":20000,"token":"${"x".repeat(43)}","agents":["../up"]}`,
])("a damaged file counts as none, and is replaced: %s", async (text) => {
  mkdirSync(nativeDir(stateDir), { recursive: true });
  writeFileSync(receiverPath(stateDir), text);
  expect(readReceiver(stateDir)).toBeUndefined();
  const made = await addToReceiver(stateDir, "claude-code");
  expect(readReceiver(stateDir)).toEqual(made);
});

test.skipIf(process.platform === "win32")("a link in its place is not followed", async () => {
  await addToReceiver(stateDir, "claude-code");
  const other = mkdtempSync(join(tmpdir(), "receiver-file-"));
  mkdirSync(nativeDir(other));
  symlinkSync(receiverPath(stateDir), receiverPath(other));
  expect(readReceiver(other)).toBeUndefined();
  await expect(addToReceiver(other, "qwen-code")).rejects.toThrow("it is a link");
  expect(readReceiver(stateDir)?.agents).toEqual(["claude-code"]);
});
