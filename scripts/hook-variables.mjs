// Writes lists that the intakes share into src/collect/intake/hook.sh and src/agents/shared/plugin/inbox.js, which cannot import them: the
// recorded environment variables, from the cards in src/agents, and the variables and Node options that a drain gets, from
// src/collect/intake/inbox-file.ts. `--check` writes nothing and exits 1 if a list is stale.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AS_THE_PROGRAM, importBundled } from "./import-bundled.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const load = (...path) => importBundled({ entryPoints: [join(root, "src", ...path)], ...AS_THE_PROGRAM });
const { COMMAND_VARIABLES, RECORDED_VARIABLES } = await load("agents", "intake.const.ts");
const { ALLOWED_NODE_OPTIONS, STARTUP_VARIABLES } = await load("collect", "intake", "inbox-file.ts");

const PER_LINE = 15;
const PER_GROUP = 15;
const inLines = (commands) =>
  commands
    .map((command, i) => `${command}${i % PER_LINE < PER_LINE - 1 && i < commands.length - 1 ? "; " : "\n"}`)
    .join("");
const constant = (name, values) => `const ${name} = [\n${values.map((value) => `  "${value}",\n`).join("")}];\n`;

/** Records variables if any of them is set. Without a loop: `eval` would cost the agent time. */
const recorded = (names) => {
  const commands = inLines(names.map((name) => `head_line env.${name} "\${${name}-}"`));
  const values = names.map((name) => `\${${name}-}`).join("");
  return `if [ -n "${values}" ]; then\n${commands.replaceAll(/^(?=.)/gm, "  ")}fi\n`;
};
const groups = RECORDED_VARIABLES.flatMap((_, i) =>
  i % PER_GROUP === 0 ? [RECORDED_VARIABLES.slice(i, i + PER_GROUP)] : [],
);

await replaceIn("src/collect/intake/hook.sh", "#", {
  // An agent sets its own variables, so most groups are empty
  variables: groups.map(recorded).join(""),
  "allowed options": `        ${ALLOWED_NODE_OPTIONS.join(" | ")}) options="$options $option" ;;\n`,
  "startup variables": `    unset ${STARTUP_VARIABLES.join(" ")}\n`,
});
await replaceIn("src/agents/shared/plugin/inbox.js", "//", {
  "command variables": constant("COMMAND_VARIABLES", COMMAND_VARIABLES),
  "node options": `${constant("STARTUP_VARIABLES", STARTUP_VARIABLES)}\n${constant("ALLOWED_NODE_OPTIONS", ALLOWED_NODE_OPTIONS)}`,
});

/** Replaces the text between `<mark> <name>: written by …` and `<mark> /<name>`. */
async function replaceIn(file, mark, texts) {
  const path = join(root, file);
  const before = await readFile(path, "utf8");
  let after = before;
  for (const [name, text] of Object.entries(texts)) {
    const begin = `${mark} ${name}: written by scripts/hook-variables.mjs\n`;
    const from = after.indexOf(begin) + begin.length;
    const to = after.search(new RegExp(`^ *${mark} /${name}$`, "m"));
    if (from < begin.length || to < from) throw new Error(`${file} has no part "${name}"`);
    after = `${after.slice(0, from)}${text}${after.slice(to)}`;
  }
  if (after === before) return;
  if (process.argv.includes("--check")) {
    console.error(`${file} is stale: run node scripts/hook-variables.mjs`);
    process.exitCode = 1;
    return;
  }
  await writeFile(path, after);
  console.log(`wrote ${file}`);
}
