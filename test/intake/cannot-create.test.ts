import { expect, test } from "vitest";
import { cannotCreate } from "#collect/intake/inbox-dirs.ts";

const failure = (code: string): Error => Object.assign(new Error(`${code}: mkdir`), { code });

test.each([
  ["EACCES", "let this user write there, or set OPENHOOK_OTEL_HOME to another folder"],
  ["EROFS", "let this user write there, or set OPENHOOK_OTEL_HOME to another folder"],
  ["EEXIST", "remove the file in its place, or set OPENHOOK_OTEL_HOME to another folder"],
  ["ENOTDIR", "remove the file in its place, or set OPENHOOK_OTEL_HOME to another folder"],
])("a folder that cannot be created because of %s has a remedy for it", async (code, remedy) => {
  expect(await cannotCreate("/nowhere/state", failure(code))).toBe(
    `cannot create the directory "/nowhere/state": ${code}: mkdir; ${remedy}`,
  );
});
