import { expect, test } from "vitest";
import { systemProgram } from "#kit/system-program.ts";

test.each([
  ["Windows is on another disk", { SystemRoot: "D:\\Windows\\" }, "D:\\Windows\\System32\\reg.exe"],
  ["the variable has another spelling", { SYSTEMROOT: "E:\\WINNT" }, "E:\\WINNT\\System32\\reg.exe"],
  ["the variable is missing", {}, "C:\\Windows\\System32\\reg.exe"],
  ["the variable is a relative path", { SystemRoot: "." }, "C:\\Windows\\System32\\reg.exe"],
])("a system program has an absolute path if %s", (_, env, path) => {
  expect(systemProgram("reg.exe", env)).toBe(path);
});
