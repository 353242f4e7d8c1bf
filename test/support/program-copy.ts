import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./program.ts";

/** Copies the built program and its dependency into `<folder>/lib`, as an administrator installs it for all users. */
export function copyProgram(folder: string): void {
  const installed = join(folder, "lib", "openhook-otel");
  mkdirSync(installed, { recursive: true });
  for (const name of ["dist", "package.json"]) cpSync(join(ROOT, name), join(installed, name), { recursive: true });
  for (const name of ["libsql", "@libsql", "@neon-rs", "detect-libc"]) {
    const modules = join(folder, "lib", "node_modules", name);
    cpSync(join(ROOT, "node_modules", name), modules, { recursive: true, dereference: true });
  }
}
