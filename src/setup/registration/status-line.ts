import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import type { EnablePlan } from "./enable-plan.ts";
import { statusLinePathOf } from "./hook-program.ts";
import type { Scope } from "./settings-edit.ts";

/** @throws UserError for project settings, which other people share */
export function refuseStatusLineOf(scope: Scope): void {
  if (scope === "project") {
    throw new UserError("E_SCOPE", "a status line can only be set in the user's settings; leave out --scope project");
  }
}

/** One line about an agent's status line; empty if the agent has none that programs fill. */
export function statusLineText({ agent, installer, files, after }: EnablePlan, context: Context): string {
  if (installer.statusLine === undefined) return "";
  switch (installer.statusLine(files)) {
    case "ours":
      return "  its status line already shows cost, context and limits\n";
    case "other":
      return `  ! ${agent.title} already has a status line, which stays as it is; to show both, let its script pass its input to ${statusLineProgram(context)} ${agent.source}\n`;
    default:
      return installer.statusLine(after) === "ours" ? "  its status line shows cost, context and limits\n" : "";
  }
}

/** How shells and tmux show the line. */
export const plainStatusLineText = (context: Context): string =>
  context.platform === "win32"
    ? `In other places: ${statusLineProgram(context)}\n`
    : `In tmux: set -g status-right '#(${statusLineProgram(context)})'\n`;

// --- internal ---

const statusLineProgram = (context: Context): string =>
  context.platform === "win32" ? `node "${statusLinePathOf(context)}"` : statusLinePathOf(context);
