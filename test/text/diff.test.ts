import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diffOfFile, unifiedDiff } from "#kit/text/diff.ts";
import fc from "../support/properties.ts";
import { runs } from "../support/whole.ts";

const diff = (before: string | undefined, after: string | undefined) =>
  unifiedDiff({ path: "settings.json", text: before }, { path: "settings.json", text: after });

const hasPatch = (() => {
  try {
    execFileSync("patch", ["--version"]);
    return true;
  } catch {
    return false;
  }
})();

describe("unified diff", () => {
  it("shows three lines around a change and joins changes that touch", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`);
    const after = lines.with(4, "five\n").with(9, "ten\n").with(18, "nineteen\n");
    expect(diff(lines.join(""), after.join(""))).toMatchInlineSnapshot(`
      "--- settings.json
      +++ settings.json
      @@ -2,12 +2,12 @@
       line 2
       line 3
       line 4
      -line 5
      +five
       line 6
       line 7
       line 8
       line 9
      -line 10
      +ten
       line 11
       line 12
       line 13
      @@ -16,5 +16,5 @@
       line 16
       line 17
       line 18
      -line 19
      +nineteen
       line 20
      "
    `);
  });

  it("names the null device for a file that is created or deleted", () => {
    expect(diff(undefined, "a\n")).toBe("--- /dev/null\n+++ settings.json\n@@ -0,0 +1 @@\n+a\n");
    expect(diff("a\n", undefined)).toBe("--- settings.json\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
  });

  it("shows an added or removed line end", () => {
    expect(diff("a", "a\n")).toContain("-a\n\\ No newline at end of file\n+a\n");
    expect(diff("a\r\n", "a\n")).toContain("-a\r\n+a\n");
  });

  it("is empty if nothing differs", () => {
    expect(diff("a\n", "a\n")).toBe("");
    expect(diff(undefined, undefined)).toBe("");
  });

  it("takes limited time for large files that have nothing in common", () => {
    const side = (name: string) => Array.from({ length: 20_000 }, (_, index) => `${name} ${index}\n`).join("");
    const begin = Date.now();
    expect(diff(side("a"), side("b")).length).toBeGreaterThan(100_000);
    expect(Date.now() - begin).toBeLessThan(5000);
  });

  it.skipIf(!hasPatch)("is a diff with which patch(1) turns the old text into the new one", () => {
    const dir = mkdtempSync(join(tmpdir(), "openhook-diff-"));
    try {
      const line = fc.constantFrom("{\n", "}\n", "a\n", "b\n", "\n", "c, d\n");
      const text = fc
        .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom("", "end"))
        .map(([a, b]) => a.join("") + b);
      fc.assert(
        fc.property(text, text, (before, after) => {
          writeFileSync(join(dir, "settings.json"), before);
          const shown = diff(before, after);
          const args = ["--silent", "--no-backup-if-mismatch", "-o", "-", "settings.json"];
          if (shown !== "") expect(execFileSync("patch", args, { cwd: dir, input: shown }).toString()).toBe(after);
        }),
        { numRuns: runs(60) },
      );
    } finally {
      rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
    }
  });
});

describe("the diff of a file", () => {
  const path = "plugin.mjs";
  const short = "line\n".repeat(40);
  const long = `${short}line\n`;

  it.each([
    [undefined, long, "new file plugin.mjs, 41 lines: --full prints them\n"],
    [long, undefined, "removed file plugin.mjs, 41 lines: --full prints them\n"],
  ])("of a long file that is new or removed is one line", (before, after, text) => {
    expect(diffOfFile({ path, text: before }, { path, text: after }, false)).toBe(text);
    expect(diffOfFile({ path, text: before }, { path, text: after }, true).split("\n")).toHaveLength(45);
  });

  it.each([
    [undefined, short],
    [short, undefined],
    [long, `${long}more\n`],
    [undefined, undefined],
  ])("of any other is whole", (before, after) => {
    const whole = unifiedDiff({ path, text: before }, { path, text: after });
    expect(diffOfFile({ path, text: before }, { path, text: after }, false)).toBe(whole);
  });
});
