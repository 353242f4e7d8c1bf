import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundle } from "./bundle.mjs";

// A program that runs meanwhile finds its parts: each file takes the place of the one before it, those that others ask for
// first, then what is left over goes
const MADE = join("node_modules", ".cache", "openhook-build");
rmSync(MADE, { recursive: true, force: true });
await bundle(MADE);
const made = filesIn(MADE).sort((a, b) => Number(b.startsWith("lib")) - Number(a.startsWith("lib")));
for (const file of made) {
  mkdirSync(dirname(join("dist", file)), { recursive: true });
  renameSync(join(MADE, file), join("dist", file));
}
for (const file of filesIn("dist")) if (!made.includes(file)) rmSync(join("dist", file));
rmSync(MADE, { recursive: true, force: true });

/** @param {string} folder */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1));
}
