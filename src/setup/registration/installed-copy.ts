import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, open, rm, utimes } from "node:fs/promises";
import { dirname, join, parse } from "node:path";
import { promisify } from "node:util";
import type { Context } from "#config/context.ts";
import { readFileIfAny, replaceFile, writeFileAtomic } from "#config/files.ts";
import { messageOf, UserError } from "#kit/errors.ts";
import { VERSION } from "#kit/version.ts";
import { folderOf, UNFINISHED } from "./copy-folders.ts";
import { digestOf, type PackageFiles, packageFiles } from "./package-files.ts";

/** The program in the folder of a version. */
export const programIn = (folder: string): string => join(folder, "dist", "openhook-otel.cjs");

/**
 * Whether this program was installed as a package. A clone of the repository and `npm link` to it are not: hooks use the clone itself, so
 * that a new build is used immediately.
 */
export const isPackage = (programPath: string): boolean =>
  versionOf(programPath) !== null && !existsSync(join(folderOf(programPath), "src", "cli.ts"));

/** The version of an installed program; `null` if it is missing or none of ours. */
export function versionOf(programPath: string): string | null {
  try {
    const { name, version } = JSON.parse(readFileSync(join(folderOf(programPath), "package.json"), "utf8"));
    return name === "openhook-otel" && typeof version === "string" ? version : null;
  } catch {
    return null;
  }
}

/**
 * Copies this program to where only we change it, because npm removes its cache and other versions of Node have other global packages. A
 * folder that exists is never changed: drains that run load parts of it later. The same version with other content gets another folder.
 *
 * @returns the program that hooks start: the copy, or for a clone of the repository the program itself
 * @throws UserError if the copy cannot be written or does not run
 */
export async function installCopy(context: Context): Promise<string> {
  const { places, programPath } = context;
  return isPackage(programPath) ? copyTo(places.copiesDir, context) : programPath;
}

/**
 * The same for any folder, and also for a clone.
 *
 * @param isUsable whether an existing copy may be used, apart from its content
 * @param mode of new folders
 */
export async function copyTo(
  copiesDir: string,
  { programPath, nodePath }: Pick<Context, "programPath" | "nodePath">,
  {
    isUsable = async () => true,
    mode = 0o700,
  }: { readonly isUsable?: (folder: string) => Promise<boolean>; readonly mode?: number } = {},
): Promise<string> {
  const files = await packageFiles(programPath);
  try {
    for (const name of namesFor(files)) {
      const folder = join(copiesDir, name);
      const state = await stateOf(folder, files);
      if (state === "other" || (state !== "absent" && !(await isUsable(folder)))) continue;
      if (state === "absent") await writeCopy(folder, files, nodePath, mode);
      else if (state === "partial") await complete(folder, files);
      return programIn(folder);
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    const text = `cannot copy this program to ${copiesDir}, where hooks would start it: ${messageOf(error)}`;
    throw new UserError("E_COPY", text, 1, { cause: error });
  }
  throw new UserError("E_COPY", `${copiesDir} has damaged copies of version ${VERSION}: remove them`, 1);
}

/** Whether a copy has this program's content. */
export async function isCopyCurrent(copy: string, programPath: string): Promise<boolean> {
  return (await stateOf(folderOf(copy), await packageFiles(programPath))) === "same";
}

/** Notes that hooks start this copy from now on, for `removeOldCopies`. */
export async function noteChosen(copy: string, nowMs: number): Promise<void> {
  await utimes(folderOf(copy), nowMs / 1000, nowMs / 1000).catch(() => {});
}

// --- internal ---

/** The usual name first; further ones if a folder of that name has other content. */
const namesFor = (files: PackageFiles): readonly string[] => {
  const exact = `${VERSION}-${digestOf(files)}`;
  return [VERSION, exact, ...[2, 3, 4].map((n) => `${exact}.${n}`)];
};

/** `partial`: nothing differs, but files are missing, for example the native part for another machine that shares this home. */
async function stateOf(folder: string, files: PackageFiles): Promise<"same" | "partial" | "other" | "absent"> {
  if (!existsSync(folder)) return "absent";
  let isPartial = false;
  for (const [path, { content }] of files) {
    const there = await readFileIfAny(join(folder, path)).catch(() => Buffer.alloc(0));
    if (there === undefined) isPartial = true;
    else if (!there.equals(content)) return "other";
  }
  return isPartial ? "partial" : "same";
}

/** Written beside its place and renamed when it is complete and runs: a killed process leaves no half a copy. */
async function writeCopy(folder: string, files: PackageFiles, nodePath: string, mode: number): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode });
  const unfinished = await mkdtemp(join(dirname(folder), `${UNFINISHED}new-`));
  try {
    for (const [path, { content, mode }] of files) await writeDurably(join(unfinished, path), content, mode);
    await tryOut(programIn(unfinished), nodePath);
    // `mkdtemp` makes it private. Windows has no modes
    if (process.platform !== "win32") await chmod(unfinished, mode);
    await replaceFile(unfinished, folder).catch(async (error: unknown) => {
      // Another `enable` was faster
      if ((await stateOf(folder, files)) !== "same") throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function complete(folder: string, files: PackageFiles): Promise<void> {
  for (const [path, { content, mode }] of files) {
    if (existsSync(join(folder, path))) continue;
    await writeFileAtomic(join(folder, path), content, { mode, dirMode: 0o755 });
  }
}

async function writeDurably(path: string, content: Buffer, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A copy can be complete and not run, for example on a file system that does not allow programs (noexec). */
async function tryOut(program: string, nodePath: string): Promise<void> {
  const args = ["--require", join(folderOf(program), "node_modules", "libsql"), program, "--version"];
  // Not in the current folder, which a repository may control. Compiled code is kept by path, and the folder will have another name
  await promisify(execFile)(nodePath, args, {
    cwd: parse(program).root,
    env: { NODE_DISABLE_COMPILE_CACHE: "1" },
    timeout: TRY_OUT_MS,
    windowsHide: true,
  });
}

const TRY_OUT_MS = 30_000;
