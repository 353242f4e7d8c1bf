// Makes the folder of a new agent from scripts/new-agent/, its line in src/agents/cards.ts and its first case.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const TEMPLATE = join(root, "scripts", "new-agent");
const CARDS = join(root, "src", "agents", "cards.ts");
const BIOME = join(root, "node_modules", "@biomejs", "biome", "bin", "biome");
const USAGE = "usage: npm run new-agent NAME (kebab-case, for example acme-agent)";

try {
  await makeAgent(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

// --- internal ---

async function makeAgent(args) {
  const [name] = args;
  if (name === undefined || args.length > 1) throw new Error(USAGE);
  if (name.length > 40 || !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
    throw new Error(`${JSON.stringify(name)} is not kebab-case: small letters, digits and single hyphens\n${USAGE}`);
  }
  if (isReserved(variableOf(name))) throw new Error(`"${name}" is a word of JavaScript: choose another name`);
  const [folder, first] = [join(root, "src", "agents", name), join(root, "test", "agents", name, "first-session")];
  const taken = [folder, dirname(first)].find((path) => existsSync(path));
  if (taken !== undefined) throw new Error(`${taken} exists: choose another name, or remove the folder`);

  const cards = withCard(await readFile(CARDS, "utf8"), name);
  await mkdir(first, { recursive: true });
  await mkdir(folder);
  for (const file of await readdir(TEMPLATE)) {
    const made = file.replace(/\.txt$/, "");
    const path = join(made === "PROVENANCE.md" ? first : folder, made);
    await writeFile(path, named(await readFile(join(TEMPLATE, file), "utf8"), name));
    console.log(`wrote ${path.slice(root.length + 1)}`);
  }
  await writeFile(CARDS, cards);
  // A name of another length breaks lines in other places
  execFileSync(process.execPath, [BIOME, "check", "--write", folder, CARDS], { cwd: root, stdio: "pipe" });
  console.log(`added ${name} to src/agents/cards.ts\nnext: CONTRIBUTING.md, "Add an agent"`);
}

/** The template's text with the agent's name in place of the one in the template. */
function named(text, name) {
  const today = new Date().toISOString().slice(0, 10);
  return text
    .replaceAll("acme-agent", name)
    .replaceAll("Acme Agent", titleOf(name))
    .replaceAll("ACME_AGENT", name.replaceAll("-", "_").toUpperCase())
    .replaceAll("2000-01-01", today);
}

/** The list of cards with the agent's: the import in the order of paths, the entry before the cards that are no program. */
function withCard(cards, name) {
  const variable = variableOf(name);
  const line = `import ${variable} from "./${name}/index.ts";`;
  const lines = cards.split("\n");
  const after = lines.findLastIndex((other) => other.startsWith("import ") && nameIn(other) < name);
  const list = lines.indexOf("  hookContract,");
  if (after === -1 || list === -1) throw new Error("src/agents/cards.ts has another form than this script expects");
  lines.splice(list, 0, `  ${variable},`);
  lines.splice(after + 1, 0, line);
  return lines.join("\n");
}

function variableOf(name) {
  return name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());
}

function titleOf(name) {
  return name.replace(/(?:^|-)(.)/g, (_, letter) => ` ${letter.toUpperCase()}`).trim();
}

function nameIn(line) {
  return /"\.\/([\w-]+)\//.exec(line)?.[1] ?? "";
}

function isReserved(variable) {
  try {
    new Script(`"use strict"; let ${variable};`);
    return false;
  } catch {
    return true;
  }
}
