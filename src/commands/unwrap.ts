import { basename } from "node:path";
import { allRecords } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { withUserErrors } from "#setup/registration/settings.ts";
import { removeWrapper, removeWrapperProgram, wrapperPathsOf } from "#setup/registration/wrap.ts";
import { isWrapper, RECORDED_AS, wrappersHere } from "#setup/registration/wrappers.ts";

interface UnwrapOptions {
  /** Print what would be done, do nothing. */
  readonly dryRun: boolean;
}

/**
 * `openhook-otel unwrap gh`: removes wrappers and the directories that were made for them. A file that the user has put
 * in a wrapper's place stays. With the last wrapper the wrapper program is removed, and the hook program where no agent
 * is enabled.
 *
 * @param names none: all
 * @returns exit code: 0, also where nothing was wrapped
 * @throws UserError for anything the user can fix
 */
export async function unwrap(names: readonly string[], { dryRun }: UnwrapOptions, context: Context): Promise<number> {
  return withUserErrors(async () => {
    const { places, stdout } = context;
    const records = (await allRecords(places.backupDir)).filter(({ agent }) => agent === RECORDED_AS);
    const recorded = new Map(records.map((record) => [record.path, record]));
    const chosen = names.length > 0 ? names : [...new Set(records.map(({ path }) => basename(path)))].sort();
    if (chosen.length === 0) stdout.write("No program is wrapped.\n");
    for (const name of new Set(chosen)) {
      const paths = await wrapperPathsOf(name, [...recorded.keys()], context);
      if (paths.length === 0) stdout.write(`${name}: not wrapped\n`);
      for (const path of paths) {
        const isOurs = await isWrapper(path, places);
        if (!dryRun) await removeWrapper(path, isOurs, recorded.get(path), context);
        const did = isOurs ? `${dryRun ? "would be " : ""}unwrapped, ${path} removed` : `nothing of ours is at ${path}`;
        stdout.write(`${name}: ${did}\n`);
      }
    }
    if (dryRun) stdout.write("Dry run: nothing was removed.\n");
    else if ((await wrappersHere(context)).length === 0) await removeWrapperProgram(context);
    return 0;
  });
}
