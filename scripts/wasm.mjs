// Writes what is made of WebAssembly's sources: shorten.wat, and the AssemblyScript below src/agents/claude-code/scan. A test
// checks that both are fresh.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";
import wabt from "wabt";

const AGENTS = join(resolve(dirname(fileURLToPath(import.meta.url)), ".."), "src", "agents");
const SHORTEN = join(AGENTS, "shared", "transcript", "shorten");
const SCAN = join(AGENTS, "claude-code", "scan");

/** No runtime but memory that is taken and kept. */
const OPTIONS = ["-O3", "--runtime", "stub", "--noAssert", "--enable", "simd", "--enable", "bulk-memory"];

/** Files that are made, each with the function that gives its text as it should be. */
export const MODULES = [
  { path: join(SHORTEN, "module.ts"), text: shortenText },
  { path: join(SCAN, "module.ts"), text: scanText },
];

async function shortenText() {
  const { parseWat } = await wabt();
  const parsed = parseWat("shorten.wat", readFileSync(join(SHORTEN, "shorten.wat"), "utf8"));
  try {
    parsed.validate();
    return moduleText("shorten.wat", parsed.toBinary({}).buffer);
  } finally {
    parsed.destroy();
  }
}

async function scanText() {
  let binary;
  const { error, stderr } = await asc.main(
    ["index.ts", "--baseDir", join(SCAN, "assembly"), ...OPTIONS, "--outFile", "scan.wasm"],
    {
      writeFile: (_name, contents) => {
        binary = contents;
      },
    },
  );
  if (error !== null || binary === undefined) throw new Error(`could not compile ${SCAN}/assembly: ${stderr}`);
  return moduleText("assembly/", binary);
}

/** @param {string} source @param {Uint8Array} binary */
function moduleText(source, binary) {
  const lines = Buffer.from(binary)
    .toString("base64")
    .match(/.{1,110}/g);
  return `// Made from ${source} by scripts/wasm.mjs; do not edit.\nexport const MODULE_BASE64 =\n${lines.map((line) => `  "${line}"`).join(" +\n")};\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, text } of MODULES) writeFileSync(path, await text());
}
