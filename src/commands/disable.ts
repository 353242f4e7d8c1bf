import { allRecords } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { suggest } from "#kit/suggest.ts";
import { diffOfFile } from "#kit/text/diff.ts";
import {
  changedPaths,
  type DisablePlan,
  disabledText,
  planDisable,
  remainingText,
} from "#setup/registration/disable.ts";
import { besideText, disableOne } from "#setup/registration/disable-all.ts";
import { removeHookProgram } from "#setup/registration/hook-program.ts";
import {
  type AgentLookup,
  complainTo,
  forEachAgent,
  type InstallableAgent,
  installableAgents,
  listed,
  namedAgents,
  scopeOf,
  withUserErrors,
} from "#setup/registration/settings.ts";
import type { EnableOptions } from "./enable.ts";
import { confirmEdit } from "./prompts.ts";

interface DisableOptions extends Omit<EnableOptions, "hookSource" | "statusline"> {
  /** Also removes the registrations of other places, whose program is not on this machine. @default false */
  readonly everywhere?: boolean;
}

/**
 * `openhook-otel disable`: removes our registrations from agents' settings and restores the files byte for byte, unless
 * something else has changed them. With the last agent the hook program is removed too; collected data stays.
 *
 * @param names agents by source; none: all that are enabled in this scope
 * @returns exit code: 0 done or nothing to do; 1 the user cancelled, or one of several agents that were not named could not
 *          be disabled (stderr has the reason)
 * @throws UserError for anything the user can fix
 */
export async function disable(
  names: readonly string[],
  options: DisableOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  return withUserErrors(async () => {
    const scope = await scopeOf(names, options.scope, agents);
    const isNamed = names.length > 0;
    const chosen = isNamed ? await namedAgents(names, scope, agents) : await installableAgents(scope, agents);
    // Unless agents were named: report one that fails, and ignore one that was never enabled
    const failed: string[] = [];
    const complain = complainTo(context);
    const records = await allRecords(context.places.backupDir);
    const onFailure = (error: unknown, { agent: { source } }: InstallableAgent): void => {
      if (!records.some(({ agent }) => agent === source)) return;
      failed.push(source);
      complain(error);
    };
    const handler = isNamed ? undefined : onFailure;
    const plans = await forEachAgent(chosen, handler, (one) => planDisable(one, scope, context, options.everywhere));
    const enabled = plans.filter((plan) => plan.enabled);
    const shown = isNamed ? plans : enabled;
    if (options.dryRun) {
      if (scope === "user")
        for (const { agent } of chosen) context.stdout.write(await besideText(agent, context).catch(() => ""));
      showDryRun(shown, options.full === true, context);
      return failed.length === 0 ? 0 : 1;
    }
    const files = listed(enabled.flatMap(changedPaths));
    if (files !== "" && !(await confirmEdit(`Remove the hook from ${files}?`, options.yes || isNamed, context))) {
      context.stdout.write("Nothing was changed.\n");
      return 1;
    }
    await forEachAgent(chosen, handler, async (one) => {
      const plan = shown.find(({ agent }) => agent === one.agent);
      context.stdout.write(await disableOne(one.agent, plan, scope, context, options.everywhere));
    });
    if (shown.length === 0 && failed.length === 0)
      context.stdout.write(`No agent is enabled in its ${scope} settings.\n`);
    const left = await allRecords(context.places.backupDir);
    context.stdout.write(remainingText(left));
    if (enabled.length > 0 && left.length === 0) {
      const running = await removeHookProgram(context);
      if (running.length > 0)
        context.stdout.write(`A process still runs ${listed(running)}: ${suggest("uninstall")} removes it later.\n`);
      const { stateDir } = context.places;
      context.stdout.write(
        `The hook program is removed. Collected data stays in ${stateDir}: ${suggest("uninstall --purge")} removes it.\n`,
      );
    }
    return failed.length === 0 ? 0 : 1;
  });
}

// --- internal ---

function showDryRun(plans: readonly DisablePlan[], isFull: boolean, { stdout }: Context): void {
  for (const plan of plans) {
    if (changedPaths(plan).length === 0) stdout.write(disabledText(plan));
    for (const { file, after } of plan.files) {
      const text = after === undefined ? undefined : Buffer.from(after).toString();
      stdout.write(diffOfFile(file, { path: file.path, text }, isFull));
    }
  }
  stdout.write("Dry run: nothing was written.\n");
}
