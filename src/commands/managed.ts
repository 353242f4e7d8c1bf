import { join } from "node:path";
import type { Context } from "../context.ts";
import { suggest } from "../model/suggest.ts";
import { folderOf, programIn } from "../registration/installed-copy.ts";
import { isManaged, managedFiles, needRoot, withHooks, withoutHooks, writeManaged } from "../registration/managed.ts";
import { managedConf, managedConfPathOf, managedFolderOf, managedHookOf } from "../registration/managed-places.ts";
import { installManagedProgram, removeManagedProgram, unusableNode } from "../registration/managed-program.ts";
import { type AgentLookup, listed, withUserErrors } from "../registration/settings-edit.ts";
import { withOpenUmask } from "../registration/umask.ts";
import { VERSION } from "../version.ts";

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
  { print, hookSource }: { readonly print: boolean; readonly hookSource: string },
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  return withUserErrors(async () => {
    if (print) return printManaged(names, hookSource, context, agents);
    const { stdout, platform } = context;
    const files = await managedFiles(names, context, agents);
    needRoot("enable --managed", ", or add --print");
    const after = files.map((file) => ({ file, text: withHooks(file, platform) }));
    return withOpenUmask(async () => {
      const { program, isNew } = await installManagedProgram(context, hookSource);
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
export async function disableManaged(names: readonly string[], context: Context, agents: AgentLookup): Promise<number> {
  return withUserErrors(async () => {
    needRoot("disable --managed");
    const { stdout, platform } = context;
    const enabled = (await managedFiles(names, context, agents)).filter(isManaged);
    await withOpenUmask(async () => {
      for (const file of enabled) {
        await writeManaged(file.path, withoutHooks(file));
        stdout.write(`${file.agent.title}: no longer enabled for all users\n`);
      }
    });
    if (enabled.length === 0) stdout.write("No agent was enabled for all users.\n");
    const left = (await managedFiles([], context, agents)).filter(isManaged);
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

// --- internal ---

/** What a machine without such files gets. Comments come first, so that every line below a path belongs to that file. */
async function printManaged(
  names: readonly string[],
  hookSource: string,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  const { stdout, stderr, platform, nodePath, programPath } = context;
  const files = await managedFiles(names, context, agents);
  const program = programIn(join(managedFolderOf(platform), VERSION));
  const problem = await unusableNode(context);
  if (problem !== undefined) stderr.write(`openhook-otel: ${problem}\n`);
  stdout.write(`# ${managedHookOf(platform)}: a copy of ${hookSource}; mode 755\n`);
  stdout.write(
    `# ${folderOf(program)}: a copy of this program (${folderOf(programPath)}); only enable --managed makes it\n`,
  );
  stdout.write(`# The files below: mode 644; all belong to root\n\n`);
  stdout.write(`==> ${managedConfPathOf(platform)}\n${managedConf(nodePath, program)}\n`);
  for (const file of files) {
    stdout.write(`==> ${file.path}\n${withHooks({ ...file, text: undefined }, platform).trimEnd()}\n\n`);
  }
  return 0;
}
