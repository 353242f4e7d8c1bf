import { expect, test } from "vitest";
import { fileSystemOf } from "#store/file-system.ts";

test.each([
  ["\\\\server\\home\\dev", true],
  ["//server/home/dev", true],
  ["\\\\?\\UNC\\server\\home", true],
  ["\\\\?\\C:\\Users\\dev", false],
  ["C:\\Users\\dev", false],
])("on Windows %s is shared with other machines: %s", (path, isShared) => {
  expect(fileSystemOf(path, "win32").isShared).toBe(isShared);
});
