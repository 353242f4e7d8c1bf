import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { printLines } from "#kit/text/ascii.ts";
import { printable } from "#kit/text/terminal.ts";
import { disableOne } from "#setup/registration/disable-all.ts";
import { removeHookProgram } from "#setup/registration/hook-program.ts";
import { isPackage } from "#setup/registration/installed-copy.ts";
import { type AgentLookup, complainTo, forEachAgent, listed, withUserErrors } from "#setup/registration/settings.ts";
import { refuseSudo } from "#setup/registration/sudo.ts";
import {
  planLines,
  planUninstall,
  removeSettings,
  removeState,
  type UninstallPlan,
} from "#setup/registration/uninstall.ts";
import { confirmEdit } from "./prompts.ts";
import { unwrap } from "./unwrap.ts";

interface UninstallOptions {
  /** Also remove all collected data and the user's settings. */
  readonly purge: boolean;
  readonly yes: boolean;
  /** Show what would be removed, remove nothing. */
  readonly dryRun: boolean;
}

/**
 * `openhook-otel uninstall`: removes the hooks from the settings of all agents, in the user's settings and in those of every project
 * that `enable` changed, the wrappers, the hook program and the copies of this program.
 *
 * @returns exit code: 0 done or nothing to do; 1 the user cancelled, or something could not be removed (stderr has the reason)
 * @throws UserError for anything the user can fix
 */
export async function uninstall(options: UninstallOptions, context: Context, agents: AgentLookup): Promise<number> {
  return withUserErrors(async () => {
    await refuseSudo(context);
    const complain = complainTo(context);
    const plan = await planUninstall(context, agents, complain);
    const lines = planLines(plan, options.purge);
    if (lines.length === 0) {
      context.stdout.write(plan.failed.length === 0 ? "There is nothing to uninstall.\n" : "");
      show(staysLines(plan, options.purge, context), context);
      return plan.failed.length === 0 ? 0 : 1;
    }
    const would = options.dryRun ? "This would be removed:" : "This will be removed:";
    show([would, ...lines.map((line) => `  ${line}`)], context);
    if (options.dryRun) {
      context.stdout.write("Dry run: nothing was removed.\n");
      return plan.failed.length === 0 ? 0 : 1;
    }
    if (!(await confirmEdit("Remove it?", options.yes, context, "pass --yes"))) {
      context.stdout.write("Nothing was removed.\n");
      return 1;
    }
    return remove(plan, options, context, complain);
  });
}

// --- internal ---

async function remove(
  plan: UninstallPlan,
  { purge }: UninstallOptions,
  context: Context,
  complain: (error: unknown) => void,
): Promise<number> {
  const failed = [...plan.failed];
  const hooks = plan.registrations.map(({ plan: one, project }) => ({ agent: one.agent, one, project }));
  const beside = new Set([...plan.native, ...plan.mcp]);
  const all = [...hooks, ...Array.from(beside, (agent) => ({ agent, one: undefined, project: undefined }))];
  const onFailure = (error: unknown, { agent }: (typeof all)[number]): void => {
    failed.push(agent.source);
    complain(error);
  };
  await forEachAgent(all, onFailure, async ({ agent, one, project }) => {
    const text = await disableOne(agent, one, project === undefined ? "user" : "project", context);
    if (text !== "") show(text.trimEnd().split("\n"), context);
  });
  if (plan.wrappers.length > 0) await unwrap([], { dryRun: false }, context);
  if (failed.length > 0) {
    // With the program, an agent that still has the hook is collected as before
    show([`The hook program and collected data stay: ${listed(failed)} could not be disabled, see above.`], context);
    return 1;
  }
  const running = await removeHookProgram(context);
  if (plan.programs.length + plan.copies.length > 0) context.stdout.write("The hook program is removed.\n");
  const left = purge && plan.stateDir !== undefined ? await removeState(context, running) : undefined;
  if (purge && plan.stateDir !== undefined) {
    const rest = left === undefined ? "" : `; what is not ours stays in ${plan.stateDir}`;
    show([`Collected data is removed${rest}.`], context);
  }
  if (purge && plan.configPath !== undefined) {
    await removeSettings(context.places);
    context.stdout.write("Your settings are removed.\n");
  }
  if (running.length > 0) {
    show([`A process still runs ${listed(running)}: run the command again when it has ended.`], context);
  }
  show(staysLines(plan, purge, context), context);
  return running.length === 0 ? 0 : 1;
}

/** What the user may still want to remove. */
function staysLines(plan: UninstallPlan, isPurge: boolean, { programPath, platform }: Context): readonly string[] {
  const root = platform === "win32" ? "administrator" : "root";
  const isGlobal = isPackage(programPath) && !/[\\/]_npx[\\/]/.test(programPath);
  return [
    ...(!isPurge && plan.stateDir !== undefined
      ? [`Collected data stays in ${plan.stateDir}: ${suggest("uninstall --purge")} removes it.`]
      : []),
    ...(plan.stackDir === undefined ? [] : [`The stack's files stay in ${plan.stackDir}: ${suggest("stack --undo")}`]),
    ...(plan.managed.length === 0
      ? []
      : [`What serves all users stays (${listed(plan.managed)}): as ${root}, ${suggest("disable --managed")}`]),
    ...(isGlobal ? ["The package itself: npm uninstall --global openhook-otel"] : []),
  ];
}

const show = (lines: readonly string[], context: Context): void => printLines(context, lines.map(printable));
