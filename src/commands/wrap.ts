import { basename } from "node:path";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { installHookProgram } from "#setup/registration/hook-program.ts";
import { withUserErrors } from "#setup/registration/settings.ts";
import { installWrapper, linkWrapper, planWrapper, type WrapPlan, wrappedText } from "#setup/registration/wrap.ts";
import { programsNamed, wrappersHere } from "#setup/registration/wrappers.ts";

interface WrapOptions {
  /** Where the wrapper goes. @default a directory of the user's that PATH has before the program, else one of ours */
  readonly directory?: string;
  /** Print what would be done, do nothing. */
  readonly dryRun: boolean;
  /** The shipped hook program, absolute. */
  readonly hookSource: string;
}

/**
 * `openhook-otel wrap gh aws`: puts a wrapper before each program, so that every run of it is recorded as a tool call.
 * Without a name: lists the wrapped programs. No existing file is changed.
 *
 * @returns exit code: 0 done, also where PATH must still be changed (the output shows how)
 * @throws UserError for anything the user can fix; then none of the programs was wrapped
 */
export async function wrap(names: readonly string[], options: WrapOptions, context: Context): Promise<number> {
  if (context.platform === "win32") {
    throw new UserError("E_PLATFORM", "wrap needs a POSIX shell and does not work on Windows");
  }
  return withUserErrors(async () => {
    if (names.length === 0) return list(context);
    const plans: WrapPlan[] = [];
    for (const name of new Set(names)) plans.push(await planWrapper(name, options.directory, context));
    if (!options.dryRun) {
      await installHookProgram(context, options.hookSource);
      await installWrapper(plans, context);
    }
    for (const plan of plans) {
      if (!options.dryRun && !plan.done) await linkWrapper(plan, context);
      context.stdout.write(await wrappedText(plan, options.dryRun, context));
    }
    if (options.dryRun) context.stdout.write("Dry run: nothing was written.\n");
    return 0;
  });
}

// --- internal ---

async function list(context: Context): Promise<number> {
  const paths = await wrappersHere(context);
  if (paths.length === 0) context.stdout.write(`No program is wrapped. Wrap one with ${suggest("wrap gh")}\n`);
  for (const path of paths) {
    const name = basename(path);
    const programs = await programsNamed(name, context);
    const program = programs.find(({ ours }) => !ours)?.path;
    if (program === undefined) context.stdout.write(`${name}: wrapped in ${path}, but the program is not in PATH\n`);
    else context.stdout.write(await wrappedText({ name, path, program, done: true }, false, context));
  }
  return 0;
}
