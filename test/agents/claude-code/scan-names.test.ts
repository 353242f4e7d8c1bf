import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { KINDS } from "../../../src/agents/claude-code/line-kinds.ts";
import { NAMES, UNREAD } from "../../../src/agents/claude-code/scan/names.ts";

const source = (path: string): string =>
  readFileSync(new URL(`../../../src/agents/claude-code/${path}`, import.meta.url), "utf8");

/** Members that are looked at only of what is given to the rules whole. */
const INSIDE_UNREAD = [
  "trigger",
  "status",
  "inputTokens",
  "outputTokens",
  "cacheReadInputTokens",
  "cacheCreationInputTokens",
  "costUSD",
];

describe("names that reading at once knows", () => {
  test.each(["lines.ts", "patch.ts"])("are all that %s looks at", (path) => {
    const read = [...source(path).matchAll(/[^>]\["([^"]+)"\]/g)].map(([, name = ""]) => name);
    expect(read.length).toBeGreaterThan(3);
    expect(read.filter((name) => ![...NAMES, ...UNREAD, ...INSIDE_UNREAD].includes(name))).toEqual([]);
  });

  test("stand there once, and so do kinds of lines", () => {
    expect(new Set([...NAMES, ...UNREAD]).size).toBe(NAMES.length + UNREAD.length);
    expect(new Set(KINDS).size).toBe(KINDS.length);
    const cases = [
      ...(/switch \(o\["type"\]\) \{.*?default:/s.exec(source("lines.ts"))?.[0] ?? "").matchAll(/case "([^"]+)"/g),
    ];
    expect(KINDS.filter((kind) => NAMES.includes(kind)).sort()).toEqual(cases.map(([, kind]) => kind).sort());
  });

  test("have the numbers that they are known by", () => {
    const constants = [...source("scan/assembly/numbers.ts").matchAll(/^export const (\w+): i32 = (-?\d+);$/gm)].map(
      ([, name = "", number]) => [name, Number(number)] as const,
    );
    const [other, ...rest] = constants;
    expect(other).toEqual(["OTHER", -1]);
    expect(rest.pop()).toEqual(["SILENT", NAMES.length + 1]);
    expect(rest.map(([, number]) => number)).toEqual(NAMES.map((_, i) => i + 1));
    expect(rest.filter(([name], i) => !stands(name, NAMES[i] ?? "")).map(([name]) => name)).toEqual([]);
  });
});

// --- internal ---

/** Names that are called otherwise there. */
const CALLED: Readonly<Record<string, string>> = {
  CACHE_WRITE: "cache_creation_input_tokens",
  CACHE_LIFETIMES: "cache_creation",
  LIFETIME_5M: "ephemeral_5m_input_tokens",
  LIFETIME_1H: "ephemeral_1h_input_tokens",
};

/** Whether a constant is made of words of a name, in their order. */
function stands(constant: string, name: string): boolean {
  if (CALLED[constant] !== undefined) return CALLED[constant] === name;
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z0-9]+/);
  let at = 0;
  for (const word of words) if (word === constant.split("_")[at]) at++;
  return at === constant.split("_").length;
}
