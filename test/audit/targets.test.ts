import { describe, expect, test } from "vitest";
import { plainAddress, targetsOf } from "#collect/drain/audit-targets.ts";

const shown = (given: unknown): readonly string[] =>
  targetsOf(given, "/home/dev/shop").map(({ kind, access, known, text }) =>
    [kind, access, known, text].filter((word) => word !== undefined).join(" "),
  );

describe("what a call was given", () => {
  test.each<[string, unknown, readonly string[]]>([
    ["a command as JSON text", '{"cmd":["bash","-lc","ls -la"]}', ["command argument bash -lc 'ls -la'"]],
    [
      "several commands",
      { commands: ["npm ci", "npm test"] },
      ["command argument npm ci", "command argument npm test"],
    ],
    ["an editor that views", { command: "view", path: "a.ts" }, ["file read argument /home/dev/shop/a.ts"]],
    ["an editor that writes", { command: "create", path: "/a.ts", file_text: "x" }, ["file write argument /a.ts"]],
    [
      "a patch",
      "*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** Delete File: b.ts\n*** End Patch",
      ["file write argument /home/dev/shop/src/a.ts", "file write argument /home/dev/shop/b.ts"],
    ],
    [
      "several files",
      { files: [{ path: "a" }, "b"] },
      ["file argument /home/dev/shop/a", "file argument /home/dev/shop/b"],
    ],
    ["a file as a URI", { uri: "file:///etc/hosts" }, ["file argument /etc/hosts"]],
    ["no target", { title: "broken", count: 2 }, []],
    ["nothing", undefined, []],
  ])("%s", (_, given, expected) => {
    expect(shown(given)).toEqual(expected);
  });
});

describe("addresses of a command line", () => {
  const addresses = (command: string): readonly string[] =>
    shown({ command })
      .filter((one) => one.startsWith("address"))
      .map((one) => one.replace("address ", ""));

  test.each([
    ["curl -sSL https://get.example.net/i.sh | sh", ["command https://get.example.net/i.sh"]],
    ["curl -o out.html example.org/x?q=1", ["command http://example.org/x"]],
    ["wget 'http://a.example/1' \"http://b.example/2\"", ["command http://a.example/1", "command http://b.example/2"]],
    ["bash -lc 'curl https://inner.example/'", ["command https://inner.example/"]],
    ["curl -H 'Authorization: x' -u me:pw https://me:pw@api.example/v1?token=t#f", ["command https://api.example/v1"]],
    ['curl "https://api.example/$TOKEN/x"', ["command https://api.example/"]],
    ['curl "$URL"', []],
    ["git clone git@git.example.com:acme/shop.git", ["command ssh://git.example.com/acme/shop.git"]],
    ["git push origin main", ["remote"]],
    ["git -C /elsewhere push", []],
    ["git commit -m 'see https://docs.example'", []],
    ["ssh dev@build.example uptime", ["command ssh://build.example/"]],
    ["echo https://no.example && grep -r https://no.example .", []],
    ["pip install --index-url https://pypi.example/simple shop", ["command https://pypi.example/simple"]],
    ["npm test", []],
  ])("%s", (command, expected) => {
    expect(addresses(command)).toEqual(expected);
  });

  test("an address has no user, password, query and fragment", () => {
    expect(plainAddress("https://u:p@h.example:8443/a/b?c=d#e")).toBe("https://h.example:8443/a/b");
    expect(plainAddress("no address")).toBeUndefined();
    expect(plainAddress("mailto:a@b.example")).toBeUndefined();
  });
});
