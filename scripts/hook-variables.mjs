// Writes the list of environment variables in src/intake/hook.sh from the cards in src/agents. `--check` writes nothing and
// exits 1 if the list is stale.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AS_THE_PROGRAM, importBundled } from "./import-bundled.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const hook = join(root, "src", "intake", "hook.sh");
const BEGIN = "# variables: written by scripts/hook-variables.mjs\n";
const END = "# /variables\n";

const { RECORDED_VARIABLES } = await importBundled({
  entryPoints: [join(root, "src", "agents", "intake.const.ts")],
  ...AS_THE_PROGRAM,
});
// One line each, without a loop: `eval` would cost the agent time
const lines = RECORDED_VARIABLES.map((name) => `head_line env.${name} "\${${name}-}"\n`).join("");
const before = await readFile(hook, "utf8");
const [from, to] = [before.indexOf(BEGIN), before.indexOf(END)];
if (from === -1 || to < from) throw new Error(`hook.sh has no ${BEGIN.trim()} … ${END.trim()}`);
const after = `${before.slice(0, from + BEGIN.length)}${lines}${before.slice(to)}`;
if (after !== before) {
  if (process.argv.includes("--check")) {
    console.error("the variables in src/intake/hook.sh are stale: run node scripts/hook-variables.mjs");
    process.exitCode = 1;
  } else {
    await writeFile(hook, after);
    console.log("wrote the variables in src/intake/hook.sh");
  }
}
