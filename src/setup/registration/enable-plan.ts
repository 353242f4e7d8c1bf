import type { Context } from "#config/context.ts";
import type { SettingsText } from "#core/model/installer.ts";
import { unifiedDiff } from "#kit/text/diff.ts";
import { plural } from "#kit/text/figures.ts";
import { hookCommandOf, statusLineCommandOf } from "./hook-program.ts";
import { installerHere } from "./other-places.ts";
import type { PresentAgent } from "./present-agents.ts";
import { edited, listed, readSettingsFiles, type Scope, type SettingsFile, targetOf } from "./settings-edit.ts";

/** What enabling one agent changes in its settings files. */
export interface EnablePlan extends PresentAgent {
  readonly files: readonly SettingsFile[];
  /** The same files with our registrations, and without them. */
  readonly after: readonly SettingsText[];
  readonly without: readonly SettingsText[];
}

/**
 * Reads the settings files and computes the edit; writes nothing.
 *
 * @param statusLine whether the agent's status line is wanted too, in user scope
 * @throws UserError when a file cannot be edited; FileError when one cannot be read
 */
export async function planEnable(
  present: PresentAgent,
  scope: Scope,
  context: Context,
  statusLine = false,
): Promise<EnablePlan> {
  const installer = installerHere(present.installer, context);
  const target = targetOf(context);
  // Project settings are shared with machines whose agent may be older, where one unknown event name disables all hooks.
  // Without a version the installer uses only events that every version knows.
  const version = scope === "user" ? (present.version ?? (await installer.detect(target)).version) : undefined;
  const files = await readSettingsFiles(await installer.paths(scope, target));
  const registration = {
    scope,
    target,
    version,
    command: hookCommandOf(context, scope),
    ...(statusLine && { statusLine: statusLineCommandOf(context, present.agent.source) }),
  };
  const [after, without] = edited(files, () => [installer.add(files, registration), installer.remove(files)] as const);
  return { ...present, installer, ...(version !== undefined && { version }), files, after, without };
}

/** False when the settings hold our registrations already. */
export const hasChanges = ({ files, after }: EnablePlan): boolean =>
  files.some(({ text }, index) => text !== after[index]?.text);

/** One line: what was enabled, in which files. */
export function enabledText(plan: EnablePlan): string {
  const { agent, installer, version, files, after } = plan;
  if (!hasChanges(plan)) {
    const ours = files.filter((file, index) => plan.without[index]?.text !== file.text);
    return `${agent.title}: already enabled in ${listed((ours.length > 0 ? ours : files).map(({ path }) => path))}\n`;
  }
  const changed = files.filter(({ text }, index) => text !== after[index]?.text).map(({ path }) => path);
  const events = installer.registered(after).length;
  const known = version === undefined ? "" : ` of ${agent.title} ${version}`;
  return `${agent.title}: enabled in ${listed(changed)} (${plural(events, "event")}${known})\n`;
}

/** What enabling would change, as diffs. */
export function dryRunText(plans: readonly EnablePlan[], hookPath: string): string {
  const texts = plans.map((plan) => {
    const diffs = plan.files.map((file, index) =>
      unifiedDiff(file, { path: file.path, text: plan.after[index]?.text }),
    );
    return `${hasChanges(plan) ? "" : enabledText(plan)}${diffs.join("")}`;
  });
  return `${texts.join("")}Dry run: nothing was written. The hook program would be ${hookPath}\n`;
}
