import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { withOpenUmask } from "#kit/umask.ts";
import { folderOf } from "#setup/registration/copy-folders.ts";
import {
  isManaged,
  type ManagedFile,
  managedDiff,
  managedFiles,
  managedPrint,
  needRoot,
  withHooks,
  withoutHooks,
  writeManaged,
} from "#setup/registration/managed.ts";
import { missingFolders, recordFolders, removeMadeFolders } from "#setup/registration/managed-folders.ts";
import { managedHookOf, managedMachine } from "#setup/registration/managed-places.ts";
import { installManagedProgram, removeManagedProgram, unusableNode } from "#setup/registration/managed-program.ts";
import { type AgentLookup, listed, withUserErrors } from "#setup/registration/settings.ts";

interface EnableManagedOptions {
  /** Print the files that a machine without any gets. */
  readonly print: boolean;
  /** Show the diff, write nothing. */
  readonly dryRun: boolean;
  readonly hookSource: string;
}

/**
 * `openhook-otel enable --managed`: registers the hook for all users of this machine, in the agents' settings for administrators, and
 * installs a copy of this program for it.
 *
 * @param names agents by source; none: every agent with such settings
 * @returns exit code 0
 * @throws UserError for anything the administrator can fix
 */
export async function enableManaged(
  names: readonly string[],
  { print, dryRun, hookSource }: EnableManagedOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  return withUserErrors(async () => {
    const { stdout, stderr, platform } = context;
    const files = await managedFiles(names, context, agents);
    if (print || dryRun) {
      const problem = await unusableNode(context);
      if (problem !== undefined) stderr.write(`openhook-otel: ${problem}\n`);
    }
    if (print) {
      stdout.write(managedPrint(files, hookSource, context));
      return 0;
    }
    if (!dryRun) await needRoot("enable --managed", platform, ", or add --print or --dry-run");
    const after = files.map((file) => ({ file, text: withHooks(file, context) }));
    if (dryRun) {
      stdout.write(managedDiff(after));
      stdout.write(`Dry run: nothing was written. The hook program would be ${managedHookOf(platform)}\n`);
      return 0;
    }
    return withOpenUmask(async () => {
      const changed = after.filter(({ file, text }) => text !== file.text);
      const missing = missingFolders([managedHookOf(platform), ...changed.map(({ file }) => file.path)], platform);
      const { program, isNew } = await installManagedProgram(context, hookSource);
      await recordFolders(missing, managedMachine(platform));
      for (const { file, text } of after) {
        if (text !== file.text) await writeManaged(file.path, text);
        const how = text === file.text ? "already enabled" : "enabled";
        stdout.write(`${file.agent.title}: ${how} for all users in ${file.path}\n`);
      }
      const now = isNew ? "now use" : "use";
      stdout.write(`All users' hooks ${now} the copy of this program in ${folderOf(program)}\n`);
      return 0;
    });
  });
}

/**
 * `openhook-otel disable --managed`: takes our hooks out of the administrator's settings, and with the last one the program. Each user's
 * collected data stays.
 *
 * @returns exit code: 0 done; 1 a process still runs a copy of the program
 */
export async function disableManaged(
  names: readonly string[],
  { dryRun }: { readonly dryRun: boolean },
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  return withUserErrors(async () => {
    const { stdout, platform } = context;
    if (!dryRun) await needRoot("disable --managed", platform, ", or add --dry-run");
    const enabled = (await managedFiles(names, context, agents)).filter(isManaged);
    if (dryRun) {
      stdout.write(managedDiff(enabled.map((file) => ({ file, text: withoutHooks(file) }))));
      stdout.write("Dry run: nothing was written.\n");
      return 0;
    }
    await withOpenUmask(async () => {
      for (const file of enabled) {
        await writeManaged(file.path, withoutHooks(file));
        stdout.write(`${file.agent.title}: no longer enabled for all users\n`);
      }
    });
    if (enabled.length === 0) stdout.write("No agent was enabled for all users.\n");
    const all = await managedFiles([], context, agents);
    const left = all.filter(isManaged);
    const paths = (files: readonly ManagedFile[]) => files.map(({ path }) => path);
    await removeMadeFolders(paths(left.length > 0 ? enabled : all), paths(left), managedMachine(platform));
    if (left.length > 0) {
      stdout.write(`The hook program stays for ${left.map(({ agent }) => agent.title).join(", ")}.\n`);
      return 0;
    }
    const { removed, running } = await removeManagedProgram(platform);
    if (removed) stdout.write("The hook program for all users is removed. What users have collected stays.\n");
    if (running.length === 0) return 0;
    stdout.write(`A process still runs ${listed(running)}: ${suggest("disable --managed")} removes it later.\n`);
    return 1;
  });
}
