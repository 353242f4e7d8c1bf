import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { parseGitConfig } from "#config/repository/git-config.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

/** What git itself reads, as `section.subsection.key` and value; `undefined` if it refuses the file. */
function byGit(text: string): readonly (readonly [string, string])[] | undefined {
  const { status, stdout } = spawnSync("git", ["config", "--file", "-", "--null", "--list"], {
    input: text,
    env: { PATH: process.env["PATH"] },
    encoding: "utf8",
  });
  if (status !== 0) return undefined;
  return stdout
    .split("\0")
    .slice(0, -1)
    .map((one) => {
      const at = one.indexOf("\n");
      return at < 0 ? [one, "true"] : [one.slice(0, at), one.slice(at + 1)];
    });
}

const byUs = (text: string) =>
  parseGitConfig(text)?.map(({ section, subsection, key, value }) => [
    [section === "" ? undefined : section, subsection, key].filter((part) => part !== undefined).join("."),
    value,
  ]);
/** Versions of git differ in what a tab inside an unquoted value becomes. */
const withoutTabs = (settings: readonly (readonly (string | undefined)[])[] | undefined) =>
  settings?.map(([name, value]) => [name, value?.replaceAll("\t", " ")]);

const TEXTS: Readonly<Record<string, string>> = {
  "as git writes it":
    '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@github.com:acme/shop.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
  comments: '# one\n[remote "origin"] ; two\nurl = https://git.example/acme/shop # three\n; four\n',
  quotes: '[remote "origin"]\nurl = "https://git.example/a b#c;d" # not this\n',
  "quotes in the middle": '[a]\nb = one "two  " three   \n',
  "a continued line": '[remote "origin"]\nurl = https://git.example/\\\nacme/shop\n',
  "a continued comment is none": "[a]\nb = c # d \\\ne = f\n",
  escapes: '[a]\nb = "one\\ttwo\\n\\"three\\" \\\\four"\n',
  "a subsection with quotes": '[remote "my \\"own\\" \\\\ one"]\nurl = x\n',
  "an older subsection": "[Remote.Origin]\nURL = x\n",
  "on the header's line": '[remote "origin"] url = https://git.example/acme/shop\n',
  "two on one line": "[a] b = c\n[d]e=f",
  "no value": "[a]\nb\nc =\nd = \n",
  "Windows' lines": '[remote "origin"]\r\n\turl = https://git.example/acme/shop\r\n',
  "a byte order mark": "\uFEFF[a]\nb = c\n",
  "space in the value": "[a]\nb =   one  two\tthree  \n",
  "no header": "a = b\n",
  "an open quote": '[a]\nb = "c\n',
  "an unknown escape": "[a]\nb = c\\d\n",
  "an open header": "[a\nb = c\n",
  "a bad name": "[a]\nb_c = d\n",
  nothing: "",
};

describe("git's format", () => {
  test.each(Object.entries(TEXTS))("%s", (_, text) => {
    expect(withoutTabs(byUs(text))).toEqual(withoutTabs(byGit(text)));
  });

  test("any text is read as git reads it, or refused as git refuses it", () => {
    const part = fc.constantFrom(
      "[a]",
      '[b "c\\"d"]',
      "[e.F]",
      "x",
      "Key",
      " ",
      "\t",
      "=",
      "#",
      ";",
      '"',
      "\\",
      "\\\n",
      "\\n",
      "\n",
      "-",
      "1",
      "é",
      "/",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 25 }), (parts) => {
        const text = `[z]\n${parts.join("")}`;
        expect(withoutTabs(byUs(text)), JSON.stringify(text)).toEqual(withoutTabs(byGit(text)));
      }),
      { numRuns: runs(400) },
    );
  });
});

test("a large file of nonsense is read in linear time", () => {
  const parts = ["[a]\nb = c\n", "\\\n", '[a]\nb = "', "# ", "[a", " "];
  const counts = parts.map((one) => parseGitConfig(`[a]\nb = ${one.repeat(100_000)}`)?.length);
  expect(counts).toEqual([100_001, 1, undefined, 1, 1, 1]);
});
