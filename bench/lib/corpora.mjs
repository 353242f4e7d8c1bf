import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeClaudeCorpus } from "../corpus/claude.mjs";
import { makeCodexCorpus } from "../corpus/codex.mjs";
import { ROOT } from "./options.mjs";

/** Agents with a corpus. `folder`, relative to the home, contains the agent's files and the totals. */
export const AGENTS = [
  { source: "claude-code", folder: ".claude", make: makeClaudeCorpus },
  { source: "codex", folder: ".codex", make: makeCodexCorpus },
];

/**
 * A home directory with a corpus only, made once per size and version of the generators; its files are in the page cache.
 *
 * @returns the home, all JSONL files, and their totals
 */
export function corpusOf({ source, folder, make }, mb) {
  const home = join(CACHE, `${source}-${mb}mb-${digestOfGenerators()}`);
  const directory = join(home, folder);
  if (!existsSync(join(directory, "totals.json"))) {
    console.log(`making ${mb} MB of ${source} sessions below ${home}`);
    const unfinished = `${home}.unfinished`;
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(join(unfinished, folder), { recursive: true });
    make({ directory: join(unfinished, folder), bytes: mb * 1e6 });
    rmSync(home, { recursive: true, force: true });
    renameSync(unfinished, home);
  }
  const paths = filesBelow(directory).filter((path) => path.endsWith(".jsonl"));
  // Fill the page cache, so that the first reader does not wait for the disk
  for (const path of paths) readFileSync(path);
  return { home, paths, totals: JSON.parse(readFileSync(join(directory, "totals.json"), "utf8")) };
}

/** @throws if a figure differs from the corpus's: a wrong reader's speed means nothing */
export function checkTotals(who, found, totals) {
  for (const [name, figure] of Object.entries(found)) {
    if (figure !== totals[name]) throw new Error(`${who}: ${name} is ${figure}, the corpus has ${totals[name]}`);
  }
}

// --- internal ---

const CACHE = join(ROOT, "node_modules", ".cache", "openhook-bench");

function digestOfGenerators() {
  const hash = createHash("sha256");
  const folder = join(ROOT, "bench", "corpus");
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(join(folder, name)));
  return hash.digest("hex").slice(0, 8);
}

const filesBelow = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
