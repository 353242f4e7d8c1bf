import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { readFileIfAny } from "#config/files.ts";
import { loadNativePart } from "#store/native-part.ts";

/** Files by their path in a folder, with `/`. */
export type PackageFiles = ReadonlyMap<string, { readonly content: Buffer; readonly mode: number }>;

/**
 * What hooks and drains need of this program: `dist`, and the packages of SQLite with the native part of this system only.
 *
 * @param programPath of the running program
 * @throws what `nativePartMissing` recognises if there is no native part
 */
export async function packageFiles(programPath: string): Promise<PackageFiles> {
  await loadNativePart();
  const root = dirname(dirname(programPath));
  const files = new Map<string, { content: Buffer; mode: number }>();
  for (const name of ["package.json", "LICENSE"]) {
    const content = await readFileIfAny(join(root, name));
    if (content !== undefined) files.set(name, { content, mode: 0o644 });
  }
  await addFolder(files, "dist", join(root, "dist"));
  for (const [name, folder] of packagesOf("libsql", programPath))
    await addFolder(files, `node_modules/${name}`, folder);
  return files;
}

/** Eight hexadecimal digits. */
export function digestOf(files: PackageFiles): string {
  const hash = createHash("sha256");
  for (const path of [...files.keys()].sort()) {
    hash.update(`${path}\0`).update(
      createHash("sha256")
        .update(files.get(path)?.content ?? "")
        .digest(),
    );
  }
  return hash.digest("hex").slice(0, 8);
}

// --- internal ---

async function addFolder(
  files: Map<string, { content: Buffer; mode: number }>,
  path: string,
  folder: string,
): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name === "node_modules") continue;
    const from = join(folder, entry.name);
    if (entry.isDirectory()) await addFolder(files, `${path}/${entry.name}`, from);
    else {
      const mode = /\.(cjs|sh|node)$/.test(entry.name) ? 0o755 : 0o644;
      files.set(`${path}/${entry.name}`, { content: await readFile(from), mode });
    }
  }
}

/** The package and those that it has loaded, by name: of libsql's native parts, only the one for this system. */
function packagesOf(name: string, programPath: string): ReadonlyMap<string, string> {
  const load = createRequire(programPath);
  const found = new Map<string, string>();
  const seen = new Set<string>();
  const visit = (loaded: NodeJS.Module | undefined): void => {
    if (loaded === undefined || seen.has(loaded.filename)) return;
    seen.add(loaded.filename);
    const [, folder = "", called = ""] = PACKAGE.exec(loaded.filename) ?? [];
    found.set(called.replaceAll("\\", "/"), folder);
    for (const child of loaded.children) visit(child);
  };
  // The program contains the package's JavaScript, so it may not have loaded the package itself
  load(name);
  visit(load.cache[load.resolve(name)]);
  return found;
}

/** The folder of a module's package, and its name. */
const PACKAGE = /^(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))[\\/]/;
