import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { NO_PROGRAM, PROGRAMS } from "./live/programs.ts";
import { ensureBuilt } from "./support/program.ts";
import { ROOT } from "./support/replay.ts";

const pages = execFileSync("git", ["ls-files", "-z", "*.md"], { cwd: ROOT, encoding: "utf8" })
  .split("\0")
  .filter((path) => path !== "" && !/^(?:test\/agents|demo\/recordings)\//.test(path));
const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");

test("generated parts are up to date", () => {
  ensureBuilt();
  expect(() =>
    execFileSync(process.execPath, ["scripts/docs.mjs", "--check"], { cwd: ROOT, stdio: "pipe" }),
  ).not.toThrow();
});

test("README has at most 150 lines and lists every agent", async () => {
  const readme = textOf("README.md");
  expect(readme.split("\n").length).toBeLessThanOrEqual(151);
  for (const { title } of await allAgents())
    expect(readme).toMatch(new RegExp(`^\\|.*${title.replace(/[().]/g, ".")}`, "m"));
});

test("docs/agents.md says of every agent that it is run live, or why it is not", async () => {
  const explained = new Set([...PROGRAMS.map(({ source }) => source), ...Object.keys(NO_PROGRAM)]);
  const agents = (await allAgents()).filter(({ docs }) => docs.startsWith("https:"));
  expect(agents.map(({ source }) => source).filter((source) => !explained.has(source))).toEqual([]);
});

test("no line is longer than 120 characters outside tables and code", () => {
  const long = pages.flatMap((path) =>
    prose(textOf(path)).flatMap(({ line, number }) => ([...line].length > 120 ? [`${path}:${number}`] : [])),
  );
  expect(long).toEqual([]);
});

test("links lead to files that exist, and to headings that they have", () => {
  const broken = pages.flatMap((path) =>
    prose(textOf(path)).flatMap(({ line, number }) =>
      [...line.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
        if (/^[a-z]+:/.test(target)) return [];
        const [file = "", anchor] = target.split("#");
        const to = file === "" ? path : join(dirname(path), file);
        if (!existsSync(join(ROOT, to))) return [`${path}:${number}: ${target}`];
        if (anchor === undefined || !to.endsWith(".md")) return [];
        return anchorsOf(textOf(to)).has(anchor) ? [] : [`${path}:${number}: ${target}`];
      }),
    ),
  );
  expect(broken).toEqual([]);
});

// --- internal ---

/** Lines outside code fences and tables. */
function prose(text: string): readonly { readonly line: string; readonly number: number }[] {
  let isCode = false;
  return text.split("\n").flatMap((line, i) => {
    if (/^\s*```/.test(line)) isCode = !isCode;
    return isCode || /^\s*(?:\||```)/.test(line) ? [] : [{ line, number: i + 1 }];
  });
}

/** The anchors that forges make of headings. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replace(/\s/g, "-"),
    ),
  );
