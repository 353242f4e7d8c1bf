import { mkdir, rename, symlink, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { allRecords, dropBackup, saveBackup, sha256 } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { missingParent, readFileIfAny, writeFileAtomic } from "#config/files.ts";
import { UserError } from "#kit/errors.ts";
import type { WrapPlan } from "./wrap-plan.ts";
import { isWrapper, RECORDED_AS, wrappedPrograms, wrapperPathOf, wrapperProgram } from "./wrappers.ts";

/** Writes the program that every wrapper is a link to, if it is missing or different. */
export async function installWrapper(plans: readonly WrapPlan[], context: Context): Promise<void> {
  const path = wrapperPathOf(context.places);
  const found = plans.map(({ name, program }) => [name, program] as const);
  const program = Buffer.from(wrapperProgram(context, new Map([...(await wrappedPrograms(context)), ...found])));
  if ((await readFileIfAny(path))?.equals(program) === true) return;
  await writeFileAtomic(path, program, { mode: 0o755, forceMode: true });
}

/**
 * Creates the link. The record is written first, so that `unwrap` finds every link.
 *
 * @throws UserError when the link cannot be made; then there is no record either
 */
export async function linkWrapper({ path }: WrapPlan, { places, now }: Context): Promise<void> {
  const target = wrapperPathOf(places);
  const madeDirectory = (await madeFor(path, places)) ?? (await missingParent(path));
  const record = {
    path,
    afterSha256: sha256(target),
    at: new Date(now()).toISOString(),
    agent: RECORDED_AS,
    scope: "user" as const,
    ...(madeDirectory === undefined ? {} : { madeDirectory }),
  };
  await saveBackup(places.backupDir, record, undefined);
  try {
    await mkdir(dirname(path), { recursive: true });
    if (await isWrapper(path, places)) {
      const temporary = `${path}.${process.pid}.tmp`;
      await symlink(target, temporary);
      await rename(temporary, path).catch(async (error: unknown) => {
        await unlink(temporary).catch(() => {});
        throw error;
      });
    } else await symlink(target, path);
  } catch (error) {
    await dropBackup(places.backupDir, path);
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError("E_FILE", `cannot create a wrapper at ${path}: ${reason}`, 1, { cause: error });
  }
}

// --- internal ---

/** The directory that an earlier wrapper had made for it; the last wrapper in it removes it. */
async function madeFor(path: string, { backupDir }: Context["places"]): Promise<string | undefined> {
  const records = (await allRecords(backupDir)).filter(({ agent }) => agent === RECORDED_AS);
  return records.find(({ madeDirectory }) => madeDirectory !== undefined && path.startsWith(`${madeDirectory}/`))
    ?.madeDirectory;
}
