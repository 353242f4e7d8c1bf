import type { Context } from "#config/context.ts";
import { printLines } from "#kit/text/ascii.ts";
import { printable } from "#kit/text/terminal.ts";
import { folderOf, isCopy } from "#setup/registration/copy-folders.ts";
import {
  dryRunText,
  enabledText,
  hasChanges,
  plainStatusLineText,
  planEnable,
  recordOwnVariables,
  refuseStatusLineOf,
  statusLineText,
  writeEnable,
} from "#setup/registration/enable.ts";
import { readHookConf } from "#setup/registration/hook-conf.ts";
import { installHookProgram } from "#setup/registration/hook-program.ts";
import { otherPlacesText } from "#setup/registration/other-places.ts";
import { installerFindings, type PresentAgent, presentAgents } from "#setup/registration/present-agents.ts";
import {
  type AgentLookup,
  complainTo,
  forEachAgent,
  namedAgents,
  type Scope,
  scopeOf,
  withUserErrors,
} from "#setup/registration/settings.ts";
import { loadNativePart } from "#store/native-part.ts";
import { chooseAgents } from "./choose-agents.ts";

export interface EnableOptions {
  /** @default user settings; project settings for agents that have no others */
  readonly scope?: Scope | undefined;
  /** Enable all that are found without asking. Naming an agent also skips the question. */
  readonly yes: boolean;
  /** Show the diff, write nothing; with `full` also all lines of long files that are new or removed. */
  readonly dryRun: boolean;
  readonly full?: boolean;
  /** Also show cost and limits in the agents' status lines. @default false */
  readonly statusline?: boolean;
  /** The shipped hook program, absolute: `hook.sh`, on Windows `hook.cjs`. */
  readonly hookSource: string;
  /** Chooses among the agents found, if none was named. @default asks the user */
  readonly choose?: typeof chooseAgents;
}

/**
 * `openhook-otel enable`: registers the hook program with agents, so that their next session is collected. Settings files
 * are backed up before the first change. An agent's files are written all or none.
 *
 * @param names agents by source; none: the user chooses among those found on this machine
 * @returns exit code: 0 done or nothing to do; 1 the user chose none, or one of several agents that were not named could
 *          not be enabled (the others are)
 * @throws UserError for anything the user can fix
 */
export async function enable(
  names: readonly string[],
  options: EnableOptions,
  context: Context,
  agents: AgentLookup,
): Promise<number> {
  return withUserErrors(async () => {
    const { dryRun } = options;
    const scope = await scopeOf(names, options.scope, agents);
    const statusLine = options.statusline === true;
    if (statusLine) refuseStatusLineOf(scope);
    const isNamed = names.length > 0;
    const found: readonly PresentAgent[] = isNamed
      ? await namedAgents(names, scope, agents)
      : await presentAgents(scope, context, agents);
    const choose = options.choose ?? chooseAgents;
    const chosen = isNamed || options.yes || dryRun ? found : ((await choose(found, scope, context)) ?? []);
    if (chosen.length === 0) {
      context.stdout.write("Nothing was changed.\n");
      return 1;
    }
    // Unless agents were named: report one that fails, enable the others
    const onFailure = isNamed ? undefined : complainTo(context);
    const plans = await forEachAgent(chosen, onFailure, (one) => planEnable(one, scope, context, statusLine));
    if (dryRun) {
      context.stdout.write(dryRunText(plans, context.places.hookPath, options.full === true));
      return plans.length === chosen.length ? 0 : 1;
    }
    // Without the native part nothing could be stored: do not start collecting
    await loadNativePart();
    if (plans.length > 0) {
      await installHookProgram(context, options.hookSource, { statusLine });
      await recordOwnVariables(context);
    }
    const done = await forEachAgent(plans, onFailure, async (plan) => {
      await writeEnable(plan, scope, context);
      context.stdout.write(enabledText(plan));
      const others = otherPlacesText(plan.agent.source, plan.files, context);
      printLines(
        context,
        others.map((text) => `  ! ${printable(text)}`),
      );
      if (statusLine) context.stdout.write(statusLineText(plan, context));
      const findings = await installerFindings(plan, context);
      printLines(
        context,
        findings.map(({ level, text }) => `  ${level === "broken" ? "✗" : "!"} ${printable(text)}`),
      );
      return { isNew: hasChanges(plan), canRun: findings.every(({ level }) => level !== "broken") };
    });
    const fresh = done.filter(({ isNew }) => isNew);
    if (fresh.length > 0) {
      const next = fresh.some(({ canRun }) => canRun)
        ? "The next session is collected."
        : "Until then nothing is collected.";
      context.stdout.write(`${next} Collected data is stored in ${context.places.stateDir}\n`);
      const { program } = await readHookConf(context.places.hookConfPath);
      if (program !== null && isCopy(program, context.places))
        context.stdout.write(`Hooks use a copy of this program in ${folderOf(program)}\n`);
    }
    if (statusLine) context.stdout.write(plainStatusLineText(context));
    return done.length === chosen.length ? 0 : 1;
  });
}
