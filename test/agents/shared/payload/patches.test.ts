import { describe, expect, test } from "vitest";
import {
  lineCount,
  writeOfContent,
  writesOfDiff,
  writesOfHunks,
  writesOfPatch,
} from "#agents/shared/payload/patches.ts";

const target = { path: "src/x.ts", operation: "update" } as const;

describe("a unified diff", () => {
  test("gives one write for each contiguous change, with its lines in the new file", () => {
    const diff = `Index: x.ts
--- x.ts	Original
+++ x.ts	Written
@@ -1,6 +1,6 @@
 one
-two
+TWO
+two and a half
 three
 four
-five
 six
@@ -20,2 +20,3 @@ function f() {
 twenty
+twenty and a half
 twenty-one
\\ No newline at end of file
`;
    expect(writesOfDiff(target, diff)).toEqual([
      { ...target, startLine: 2, endLine: 3, added: 2, removed: 1 },
      { ...target, added: 0, removed: 1 },
      { ...target, startLine: 21, endLine: 21, added: 1, removed: 0 },
    ]);
  });

  test("lines that look like file names are counted as the hunk's header says", () => {
    expect(writesOfDiff(target, "--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- sql\n+++ plus\n same\n")).toEqual([
      { ...target, startLine: 1, endLine: 1, added: 1, removed: 1 },
    ]);
  });

  test("gives a range for a new file, and only counts for an emptied one", () => {
    expect(writesOfDiff(target, "@@ -0,0 +1,2 @@\n+a\n+b\n")).toEqual([
      { ...target, startLine: 1, endLine: 2, added: 2, removed: 0 },
    ]);
    expect(writesOfDiff(target, "@@ -1,2 +0,0 @@\n-a\n-b\n")).toEqual([{ ...target, added: 0, removed: 2 }]);
  });

  test("is also read without the texts of its lines, cut off, or empty", () => {
    expect(writesOfDiff(target, "@@ -3,2 +3,2 @@\n \n-\n+")).toEqual([
      { ...target, startLine: 4, endLine: 4, added: 1, removed: 1 },
    ]);
    expect(writesOfDiff(target, "@@ -1,9 +1,9 @@\n+a")).toEqual([
      { ...target, startLine: 1, endLine: 1, added: 1, removed: 0 },
    ]);
    expect(writesOfDiff(target, "")).toEqual([{ ...target, added: 0, removed: 0 }]);
  });
});

test("more changes than ranges are useful become one write with sums", () => {
  const hunks = Array.from({ length: 51 }, (_, at) => ({ newStart: at * 10 + 1, lines: ["-a", "+b", "+c"] }));
  expect(writesOfHunks(target, hunks)).toEqual([{ ...target, added: 102, removed: 51 }]);
});

test("a patch of apply_patch has ranges for new files and counts for changed ones", () => {
  const patch = `apply_patch <<'EOF'
*** Begin Patch
*** Add File: src/new.ts
+one
+two
*** Update File: src/x.ts
@@ class X
 context
-old
+new
+newer
*** Update File: src/a.ts
*** Move to: src/b.ts
@@
-a
+b
*** Delete File: src/gone.ts
*** End Patch
*** Add File: not/this.ts
EOF`;
  expect(writesOfPatch(patch)).toEqual([
    { path: "src/new.ts", operation: "create", startLine: 1, endLine: 2, added: 2, removed: 0 },
    { path: "src/x.ts", operation: "update", added: 2, removed: 1 },
    { path: "src/a.ts", operation: "delete" },
    { path: "src/b.ts", operation: "create", added: 1, removed: 1 },
    { path: "src/gone.ts", operation: "delete" },
  ]);
  expect(writesOfPatch("echo hello")).toEqual([]);
});

test("a file written as a whole has the range of all its lines, and counts only if it replaces all earlier ones", () => {
  expect(writeOfContent({ path: "a", operation: "create" }, "x\ny", true)).toEqual({
    path: "a",
    operation: "create",
    startLine: 1,
    endLine: 2,
    added: 2,
    removed: 0,
  });
  expect(writeOfContent({ path: "a" }, "x\n", false)).toEqual({ path: "a", startLine: 1, endLine: 1 });
  expect(writeOfContent({ path: "a" }, "", true)).toEqual({ path: "a", added: 0, removed: 0 });
  expect([undefined, "", "a", "a\n", "a\nb"].map(lineCount)).toEqual([0, 0, 1, 1, 2]);
});
