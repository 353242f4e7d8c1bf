// Writes the WebAssembly module of src/agents/shared/transcript/shorten/shorten.wat. A test checks that it is fresh.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import wabt from "wabt";

const SHORTEN = join(
  resolve(dirname(fileURLToPath(import.meta.url)), ".."),
  "src",
  "agents",
  "shared",
  "transcript",
  "shorten",
);

/** Files that are made, each with the function that gives its text as it should be. */
export const MODULES = [{ path: join(SHORTEN, "module.ts"), text: shortenText }];

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
