// Writes src/agents/shared/shorten/module.ts from shorten.wat. A test checks that it is fresh.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import wabt from "wabt";

const FOLDER = join(resolve(dirname(fileURLToPath(import.meta.url)), ".."), "src", "agents", "shared", "shorten");
export const MODULE_PATH = join(FOLDER, "module.ts");

/** The text of module.ts as it should be. */
export async function moduleText() {
  const { parseWat } = await wabt();
  const parsed = parseWat("shorten.wat", readFileSync(join(FOLDER, "shorten.wat"), "utf8"));
  try {
    parsed.validate();
    const lines = Buffer.from(parsed.toBinary({}).buffer)
      .toString("base64")
      .match(/.{1,110}/g);
    return `// Made from shorten.wat by scripts/wasm.mjs; do not edit.\nexport const MODULE_BASE64 =\n${lines.map((line) => `  "${line}"`).join(" +\n")};\n`;
  } finally {
    parsed.destroy();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(MODULE_PATH, await moduleText());
