import { execFileSync } from "node:child_process";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** Every tracked file matches one of these; anything else is rubbish or needs a rule. */
const KNOWN: readonly RegExp[] = [
  // The root: packaging, tools' settings, texts
  /^(?:package|package-lock|tsconfig|biome)\.json$/,
  /^(?:vitest\.config\.ts|\.dependency-cruiser\.cjs|\.git(?:ignore|attributes)|\.npmrc|LICENSE)$/,
  /^(?:README|CHANGELOG|CONTRIBUTING|SECURITY)\.md$/,
  /^\.ci\/run$/,
  /^\.github\/(?:[\w-]+\/)?[\w-]+\.(?:ya?ml|md)$/,
  // The program: flat rooms of code, agents with their README, the page with its styles
  /^src\/(?:[\w.-]+\/)*[\w.-]+\.tsx?$/,
  /^src\/(?:bin\.cjs|collect\/intake\/(?:hook|wrapper)\.sh|show\/statusline\/statusline\.(?:sh|cjs)|commands\/completion\.sh|agents\/(?:[\w-]+\/)+[\w-]+\.js)$/,
  /^src\/agents\/[\w-]+\/README\.md$/,
  /^src\/agents\/shared\/transcript\/shorten\/shorten\.wat$/,
  /^src\/store\/(?:README\.md|[\w-]+\.sql)$/,
  /^src\/show\/view\/page\/(?:(?:styles\/)?[\w-]+\.css|icon\.svg|index\.html|tsconfig\.json)$/,
  // Tests mirror src; a case is a folder of data
  /^test\/(?:[\w.-]+\/)*[\w.-]+\.(?:m?ts|mjs|cjs|js)$/,
  /^test\/agents\/.+(?:\.(?:jsonl?|md|txt|db|db-wal|zst|toml|ya?ml|sql)|\/(?:\.project_root|CURRENT|\.registry))$/,
  /^test\/native\/recordings\/.+\.gz$/,
  /^test\/(?:[\w.-]+\/)+[\w.-]+\.(?:json|jsonl|txt|ya?ml|md|pem|sql|snap)$/,
  /^test\/stack\/native\/[\w.-]+\.bin$/,
  /^demo\/recordings\/.+\.(?:jsonl?|md)$/,
  /^demo\/made-up\/[\w-]+\.(?:mjs|d\.mts)$/,
  // What ships beside the program
  /^(?:schema|dashboards)\/[\w.-]+\.json$/,
  /^dashboards\/(?:README\.md|(?:src|rules|grafana-alerting)\/(?:[\w-]+\/)*[\w.-]+\.(?:ts|ya?ml))$/,
  /^plugins\/(?:README\.md|src\/[\w-]+\.ts|skills\/[\w-]+\/SKILL\.md|(?:[\w.-]+\/)+[\w-]+\.json)$/,
  /^conformance\/(?:README\.md|(?:native\/)?[\w-]+\.jsonl)$/,
  /^collector-config\/(?:[\w.-]+\/)*[\w.-]+\.(?:ya?ml|md|ts|sh|tpl|env|example|conf)$/,
  /^docs\/(?:[\w-]+\/)?[\w-]+\.(?:md|png)$/,
  /^changelog\.d\/[\w.-]+\.md$/,
  // Tools
  /^scripts\/[\w.-]+\.m(?:js|ts)$/,
  /^scripts\/new-agent\/[\w.-]+\.txt$/,
  /^scripts\/wasm\.d\.mts$/,
  /^bench\/(?:[\w-]+\/)?[\w-]+\.mjs$/,
];

const unknownAmong = (files: readonly string[]): readonly string[] =>
  files.filter((file) => !KNOWN.some((pattern) => pattern.test(file)));

test("every tracked file has its place", () => {
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: ROOT, encoding: "utf8" }).split("\0").filter(Boolean);
  expect(tracked.length).toBeGreaterThan(500);
  expect(unknownAmong(tracked)).toEqual([]);
});

test.each([
  "isolate-0x36573f00-21444-v8.log",
  "notes.txt",
  "src/collect/drain/read-inbox.ts.orig",
  "src/store/dump.db",
  "test/screenshot.png",
  "scripts/try.sh",
])("%s would be reported", (file) => expect(unknownAmong([file])).toEqual([file]));
