import { dirname } from "node:path";
import type { Context } from "#config/context.ts";
import type { WrapPlan } from "./wrap-plan.ts";
import { pathOf, programsNamed } from "./wrappers.ts";

/** One line about a wrapper; advice below it where PATH finds the program first. */
export async function wrappedText(plan: WrapPlan, dryRun: boolean, context: Context): Promise<string> {
  const { name, path, program, done } = plan;
  const what = done ? "already wrapped" : dryRun ? "would be wrapped" : "wrapped";
  const first = (await programsNamed(name, context))[0];
  const isFirst = dryRun && !done ? await comesFirst(plan, context) : first?.path === path;
  const line = `${name}: ${what} in ${path}, before ${program}\n`;
  return isFirst ? line : line + adviceFor(path, first?.path ?? program, context);
}

// --- internal ---

/** Whether PATH has the directory before the program's. */
async function comesFirst({ path, program }: WrapPlan, context: Context): Promise<boolean> {
  const directories = pathOf(context);
  const [at, last] = [directories.indexOf(dirname(path)), directories.indexOf(dirname(program))];
  return at !== -1 && at < last;
}

function adviceFor(path: string, found: string, { places }: Context): string {
  const directory = dirname(path);
  const shown = directory.startsWith(`${places.home}/`) ? `$HOME${directory.slice(places.home.length)}` : directory;
  return [
    `  It is not used yet, because PATH finds ${found} first. Put its directory first, in ~/.profile or the file that your`,
    `  shell reads instead, after everything else that changes PATH:`,
    `    export PATH="${shown}:$PATH"`,
    "",
  ].join("\n");
}
