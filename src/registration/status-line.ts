import { type Context, UserError } from "../context.ts";
import { suggest } from "../model/suggest.ts";
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
export function statusLineText({ agent, installer, files, after }: EnablePlan, { platform, places }: Context): string {
  if (installer.statusLine === undefined) return "";
  switch (installer.statusLine(files)) {
    case "ours":
      return "  its status line already shows cost, context and limits\n";
    case "other": {
      const program = platform === "win32" ? suggest("statusline") : statusLinePathOf(places);
      return `  ! ${agent.title} already has a status line, which stays as it is; to show both, let its script pass its input to ${program} ${agent.source}\n`;
    }
    default:
      return installer.statusLine(after) === "ours" ? "  its status line shows cost, context and limits\n" : "";
  }
}

/** How shells and tmux show the line. */
export const plainStatusLineText = ({ platform, places }: Context): string =>
  platform === "win32"
    ? `In other places: ${suggest("statusline")}\n`
    : `In tmux: set -g status-right '#(${statusLinePathOf(places)})'\n`;
