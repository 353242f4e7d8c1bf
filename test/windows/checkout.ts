import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../support/replay.ts";
import { onDisk } from "./lab.ts";

/** This repository, as Windows sees it. */
export const CHECKOUT = "C:\\work\\repository";

/** Copies this repository to Windows' disk, with its packages for Windows. */
export function checkOut(): void {
  const folder = onDisk("work", "repository");
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder))
    if (name !== "node_modules") rmSync(join(folder, name), { recursive: true, force: true });
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    maxBuffer: 1 << 26,
  });
  for (const path of [...listed.toString().split("\0"), "dist"]) {
    // What is deleted and not yet committed is still listed
    if (path === "" || path === "node_modules" || !existsSync(join(ROOT, path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
  installPackages(folder);
}

// --- internal ---

/** Takes a few seconds with npm's cache, so it is only done if the packages have changed. */
function installPackages(folder: string): void {
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  const installed = join(folder, "node_modules", ".installed-lock.json");
  if (existsSync(installed) && readFileSync(installed, "utf8") === lock) return;
  const options = ["--os=win32", "--cpu=x64", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  execFileSync("npm", ["ci", ...options], { cwd: folder, stdio: "inherit" });
  writeFileSync(installed, lock);
}
