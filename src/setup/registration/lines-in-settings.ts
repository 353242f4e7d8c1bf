import { isOurCommand } from "#agents/shared/settings/settings.ts";
import { windowsLine } from "#agents/shared/settings/windows-line.ts";
import type { Context } from "#config/context.ts";
import { onWindows } from "./hook-program.ts";

/** Our command lines in settings of any format whose strings are written as in JSON. */
export function ourLinesIn(text: string): readonly string[] {
  return (text.match(/"(?:[^"\\\n]|\\.)*"/g) ?? []).flatMap((quoted) => {
    try {
      const line: unknown = JSON.parse(quoted);
      // Copilot's condition is for PowerShell only
      return typeof line === "string" && isOurCommand(line) ? [line.replace(CONDITION, "")] : [];
    } catch {
      return [];
    }
  });
}

/**
 * Whether settings of a user or an administrator have a line of ours without Node's path. cmd starts a `node.cmd` of the current folder,
 * which can be somebody else's repository, before the `node` in PATH.
 */
export const startsNodeByName = (text: string): boolean => ourLinesIn(text).some((line) => line.startsWith("node "));

/** Whether this version's line has Node's path: not on a disk without short names, if the path has a blank. */
export const knowsPathOfNode = (context: Context): boolean => !windowsLine(onWindows(context), []).startsWith("node ");

// --- internal ---

const CONDITION = /^if \(\$env:COPILOT_CLI\) \{ exit 0 \}; /;
