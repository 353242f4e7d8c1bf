import { describe, expect, test } from "vitest";
import { fileUriOf, isAbsolutePath, pathOfFileUri } from "#kit/file-uri.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

describe("a directory as a URI", () => {
  test.each([
    ["/home/dev/project", "file:///home/dev/project"],
    ["/", "file:///"],
    ["/home/dev/a b", "file:///home/dev/a%20b"],
    ["/home/dev/100%", "file:///home/dev/100%25"],
    ["/home/dev/c#?x", "file:///home/dev/c%23%3Fx"],
    ["/home/dev/Müller", "file:///home/dev/M%C3%BCller"],
    ["/home/dev/a\\b", "file:///home/dev/a%5Cb"],
    ["C:\\Users\\dev\\a b", "file:///C:/Users/dev/a%20b"],
    ["C:\\", "file:///C:/"],
    ["\\\\server\\share\\project", "file://server/share/project"],
    ["\\\\wsl$\\Ubuntu\\home\\dev", "file://wsl$/Ubuntu/home/dev"],
    ["\\\\wsl.localhost\\Ubuntu\\home", "file://wsl.localhost/Ubuntu/home"],
  ])("%s is %s, and back", (path, uri) => {
    expect(fileUriOf(path)).toBe(uri);
    expect(pathOfFileUri(uri)).toBe(path);
    expect(isAbsolutePath(path)).toBe(true);
  });

  test.each([
    ["C:/Users/dev", "file:///C:/Users/dev"],
    ["\\\\?\\C:\\Users\\dev", "file:///C:/Users/dev"],
    ["\\\\?\\UNC\\server\\share\\project", "file://server/share/project"],
  ])("%s is %s", (path, uri) => expect(fileUriOf(path)).toBe(uri));

  test.each(["project", "./project", "", "~/project", "C:project", "/home/\ud800"])("%j has no URI", (path) =>
    expect(fileUriOf(path)).toBeUndefined(),
  );

  test("every POSIX path comes back as it was", () =>
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", minLength: 1 })), (segments) => {
        const path = `/${segments.map((one) => one.replaceAll(/[/\0\p{Cs}]/gu, "-")).join("/")}`;
        // A drive letter's form belongs to Windows
        fc.pre(!/^\/[a-z][:|](?:\/|$)/i.test(path));
        expect(pathOfFileUri(fileUriOf(path) ?? "")).toBe(path);
      }),
      { numRuns: runs(100) },
    ));
});

describe("the path of a file: URI", () => {
  test.each([
    ["FILE:///home/dev/project", "/home/dev/project"],
    ["file:/home/dev/project", "/home/dev/project"],
    ["file://localhost/home/dev/project", "/home/dev/project"],
    ["file://LocalHost/C:/Users/dev", "C:\\Users\\dev"],
    ["file:///home/dev/project/", "/home/dev/project/"],
    ["file:///c%3A/Users/dev", "c:\\Users\\dev"],
    ["file:///c|/Users/dev", "c:\\Users\\dev"],
    ["file://C:/Users/dev", "C:\\Users\\dev"],
    ["file:///C:", "C:\\"],
    ["file:///home/dev/project?x#y", "/home/dev/project"],
    ["file://server/share/a%20b", "\\\\server\\share\\a b"],
    ["file://wsl%24/Ubuntu/home", "\\\\wsl$\\Ubuntu\\home"],
  ])("%s is %s", (uri, path) => expect(pathOfFileUri(uri)).toBe(path));

  test.each([
    "https://example.com/page",
    "mailto:inbox/4",
    "file:project",
    "file://",
    "file://server",
    "file:///home/dev/a%2Fb",
    "file:///home/dev/%00",
    "file:///home/dev/%FF",
    "file:///home/dev/100%",
    "file:///C:/a%5Cb",
    "file://[::1]/home",
    "/home/dev",
    "",
  ])("%j has none", (uri) => expect(pathOfFileUri(uri)).toBeUndefined());
});
