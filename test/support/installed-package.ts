import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./program.ts";

/**
 * Puts the built program into `folder/node_modules/openhook-otel` as npm installs it, beside the packages that it needs.
 *
 * @param version replaces the real one, also in the program
 * @returns the program
 */
export function installPackage(folder: string, version?: string): string {
  const root = join(folder, "node_modules", "openhook-otel");
  mkdirSync(root, { recursive: true });
  for (const name of ["dist", "package.json", "LICENSE"])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  for (const name of ["libsql", "@libsql", "@neon-rs", "detect-libc"]) {
    const from = join(ROOT, "node_modules", name);
    cpSync(from, join(folder, "node_modules", name), { recursive: true, dereference: true });
  }
  if (version !== undefined) renameVersion(root, version);
  return join(root, "dist", "openhook-otel.cjs");
}

/** Replaces the version of an installed package, also in its program. */
export function renameVersion(root: string, version: string): void {
  const { version: real }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const paths = readdirSync(join(root, "dist"), { recursive: true, encoding: "utf8" }).filter((p) =>
    p.endsWith(".cjs"),
  );
  for (const path of ["package.json", ...paths.map((one) => join("dist", one))]) {
    const text = readFileSync(join(root, path), "utf8");
    writeFileSync(join(root, path), text.replaceAll(`"${real}"`, `"${version}"`));
  }
}
