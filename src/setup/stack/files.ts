import { createHash } from "node:crypto";
import { readdir, readFile, rmdir } from "node:fs/promises";
import { dirname, isAbsolute, join, normalize } from "node:path";
import * as z from "zod";
import { readFileIfAny, removeFile, writeFileAtomic } from "#config/files.ts";
import { UserError } from "#kit/errors.ts";

/** The changes that bring a folder up to date with the shipped files. Paths are relative to it. */
export interface StackPlan {
  readonly folder: string;
  readonly writes: readonly { readonly path: string; readonly content: Buffer; readonly isNew: boolean }[];
  /** Written by an earlier version, no longer shipped, and unchanged. */
  readonly removes: readonly string[];
  /** Changed by the user, while the shipped file is the same as before: kept. */
  readonly kept: readonly string[];
  /** Conflicts: changed by the user or not written by us, and different from the shipped file. */
  readonly changed: readonly string[];
  /** SHA-256 of every shipped file, by path. */
  readonly digests: Readonly<Record<string, string>>;
}

/**
 * The stack's files by their path in its folder, which is the same as in the package.
 *
 * @throws UserError when one of the folders is missing
 */
export async function shippedFiles(packageRoot: string): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const { below, takes, deep } of SHIPPED) {
    const names = await namesIn(join(packageRoot, below), deep);
    const taken = names.filter((name) => takes.test(name));
    if (taken.length === 0) throw missing(join(packageRoot, below));
    for (const name of taken.sort()) files.set(join(below, name), await readFile(join(packageRoot, below, name)));
  }
  return files;
}

/**
 * Compares a folder with what is shipped and with what we wrote there before.
 *
 * @param force overwrite or remove files that the user has changed
 */
export async function planOf(
  folder: string,
  shipped: ReadonlyMap<string, Buffer>,
  record: StackRecord | undefined,
  force: boolean,
): Promise<StackPlan> {
  const written = record?.files ?? {};
  const digests = Object.fromEntries([...shipped].map(([path, content]) => [path, digestOf(content)]));
  const plan = {
    folder,
    writes: [...NO_WRITES],
    removes: [...NO_PATHS],
    kept: [...NO_PATHS],
    changed: [...NO_PATHS],
    digests,
  };
  for (const [path, content] of shipped) {
    const there = await readFileIfAny(join(folder, path));
    if (there?.equals(content) === true) continue;
    const isOurs = there === undefined || digestOf(there) === written[path];
    if (isOurs || force) plan.writes.push({ path, content, isNew: there === undefined });
    else if (written[path] === digests[path] || MEANT_TO_BE_CHANGED.has(path)) plan.kept.push(path);
    else plan.changed.push(path);
  }
  for (const [path, digest] of Object.entries(written)) {
    const there = shipped.has(path) ? undefined : await readFileIfAny(join(folder, path));
    if (there === undefined) continue;
    if (digestOf(there) === digest || force) plan.removes.push(path);
    else plan.kept.push(path);
  }
  return plan;
}

/** The files that this program wrote to a stack's folder, to distinguish them from the user's. */
const StackRecord = z.object({
  /** SHA-256 by path, relative to the folder. */
  files: z.record(z.string().refine(isInside), z.string()),
  /** Present if this command set `otlp.endpoint`: the user's value before, `null` for none. */
  endpoint: z.object({ before: z.string().nullable() }).optional(),
});
export type StackRecord = z.infer<typeof StackRecord>;

/** @returns `undefined` where there is none @throws UserError for a damaged record, because the files' origin is then unknown */
export async function readRecord(folder: string): Promise<StackRecord | undefined> {
  const path = recordPathOf(folder);
  const bytes = await readFileIfAny(path);
  if (bytes === undefined) return undefined;
  try {
    return StackRecord.parse(JSON.parse(bytes.toString("utf8")));
  } catch (error) {
    throw new UserError("E_RECORD", `${path} is damaged: remove it, and run the command again with --force`, 1, {
      cause: error,
    });
  }
}

/** Writes and removes the files of a plan, then writes the record. @param endpoint as in the record @throws FileError */
export async function writeStack(plan: StackPlan, endpoint: StackRecord["endpoint"]): Promise<void> {
  const { folder, writes, removes, digests } = plan;
  for (const { path, content } of writes) {
    const target = join(folder, path);
    // Containers run as other users and must be able to read them
    await writeFileAtomic(target, content, { mode: 0o644, forceMode: true, dirMode: 0o755 });
  }
  for (const path of removes) await removeFile(join(folder, path));
  const record = `${JSON.stringify({ files: digests, endpoint }, null, 2)}\n`;
  await writeFileAtomic(recordPathOf(folder), record, { mode: 0o644, dirMode: 0o755 });
}

/** Removes files of the stack, its record, and folders that are empty then. @throws FileError */
export async function removeStack(folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) await removeFile(join(folder, path));
  await removeFile(recordPathOf(folder));
  await removeEmptyFolders(folder, paths);
}

// --- internal ---

const recordPathOf = (folder: string): string => join(folder, ".openhook-otel-stack.json");

const NO_WRITES: StackPlan["writes"] = [];
const NO_PATHS: readonly string[] = [];

/** Files that users are meant to edit, as their headers state. */
const MEANT_TO_BE_CHANGED: ReadonlySet<string> = new Set([join("dashboards", "rules", "budgets.yaml")]);

const SHIPPED = [
  { below: "collector-config", takes: /^compose\.yaml$/, deep: false },
  { below: join("collector-config", "compose"), takes: /\.yaml$/, deep: true },
  { below: "dashboards", takes: /\.json$/, deep: false },
  { below: join("dashboards", "rules"), takes: /\.ya?ml$/, deep: false },
] as const;

async function namesIn(folder: string, deep: boolean): Promise<readonly string[]> {
  try {
    return await readdir(folder, { recursive: deep });
  } catch (error) {
    throw missing(folder, error);
  }
}

const missing = (folder: string, cause?: unknown): UserError =>
  new UserError("E_INSTALLATION", `the stack's files in ${folder} are missing: install openhook-otel again`, 1, {
    cause,
  });

const digestOf = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex");

/** Rejects paths outside of the folder: only files in it may be removed. */
function isInside(path: string): boolean {
  return !isAbsolute(path) && !normalize(path).startsWith("..");
}

/** Folders of removed files, the deepest first, as long as they are empty. */
async function removeEmptyFolders(folder: string, removed: readonly string[]): Promise<void> {
  const folders = new Set<string>([folder]);
  for (const path of removed) {
    for (let at = dirname(join(folder, path)); at.startsWith(folder) && at !== folder; at = dirname(at))
      folders.add(at);
  }
  for (const path of [...folders].sort((a, b) => b.length - a.length)) await rmdir(path).catch(() => {});
}
