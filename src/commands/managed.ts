import type { Context } from "../context.ts";
import {
  installManagedProgram,
  isManaged,
  MANAGED_FOLDER,
  managedConf,
  managedFiles,
  needLastingProgram,
  needRoot,
  removeManagedProgram,
  withHooks,
  withoutHooks,
  writeManaged,
} from "../registration/managed.ts";
import { type AgentLookup, withUserErrors } from "../registration/settings-edit.ts";

/**
 * `openhook-otel enable --managed`: registers the hook for all users of this machine, in the agents' settings for administrators.
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
    needLastingProgram(context);
    const files = await managedFiles(names, context, agents);
    const { stdout } = context;
    if (print) {
      stdout.write(`# mode 755, a copy of ${hookSource}\n==> ${MANAGED_FOLDER}/hook\n\n`);
      stdout.write(`==> ${MANAGED_FOLDER}/hook.conf\n${managedConf(context)}\n`);
      for (const file of files)
        stdout.write(`==> ${file.path}\n${withHooks({ ...file, text: undefined }).trimEnd()}\n\n`);
      return 0;
    }
    needRoot("enable --managed");
    const after = files.map((file) => ({ file, text: withHooks(file) }));
    await installManagedProgram(context, hookSource);
    for (const { file, text } of after) {
      if (text !== file.text) await writeManaged(file.path, text);
      const how = text === file.text ? "already enabled" : "enabled";
      stdout.write(`${file.agent.title}: ${how} for all users in ${file.path}\n`);
    }
    return 0;
  });
}

/**
 * `openhook-otel disable --managed`: takes our hooks out of the administrator's settings, and with the last one the program. Each user's
 * collected data stays.
 */
export async function disableManaged(names: readonly string[], context: Context, agents: AgentLookup): Promise<number> {
  return withUserErrors(async () => {
    needRoot("disable --managed");
    const enabled = (await managedFiles(names, context, agents)).filter(isManaged);
    for (const file of enabled) {
      await writeManaged(file.path, withoutHooks(file));
      context.stdout.write(`${file.agent.title}: no longer enabled for all users\n`);
    }
    if (enabled.length === 0) context.stdout.write("No agent was enabled for all users.\n");
    if (!(await managedFiles([], context, agents)).some(isManaged)) await removeManagedProgram();
    return 0;
  });
}
