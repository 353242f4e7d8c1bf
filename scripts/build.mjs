import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundle } from "./bundle.mjs";

// Replaces file by file, shared parts first and leftovers last, so that a program that runs during the build finds its parts
// With the process id, because two builds can run at once
const STAGING = join("node_modules", ".cache", `openhook-build-${process.pid}`);
rmSync(STAGING, { recursive: true, force: true });
await bundle(STAGING);
const built = filesIn(STAGING).sort((a, b) => Number(b.startsWith("lib")) - Number(a.startsWith("lib")));
for (const file of built) {
  mkdirSync(dirname(join("dist", file)), { recursive: true });
  renameSync(join(STAGING, file), join("dist", file));
}
for (const file of filesIn("dist")) if (!built.includes(file)) rmSync(join("dist", file));
rmSync(STAGING, { recursive: true, force: true });

/** @param {string} folder */
function filesIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1));
}
