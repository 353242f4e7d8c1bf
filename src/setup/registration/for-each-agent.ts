import type { Context } from "#config/context.ts";
import { FileError } from "#config/files.ts";
import { UserError } from "#kit/errors.ts";

/** Runs something for each agent in turn. With `complain` a failed one is skipped, otherwise the first failure ends it. */
export async function forEachAgent<T, R>(
  all: readonly T[],
  complain: ((error: unknown, one: T) => void) | undefined,
  work: (one: T) => Promise<R>,
): Promise<readonly R[]> {
  const done: R[] = [];
  for (const item of all) {
    try {
      done.push(await work(item));
    } catch (error) {
      if (complain === undefined || !(error instanceof UserError || error instanceof FileError)) throw error;
      complain(error, item);
    }
  }
  return done;
}

/** Prints an error on stderr and continues. */
export const complainTo =
  ({ stderr }: Pick<Context, "stderr">) =>
  (error: unknown): void => {
    stderr.write(`openhook-otel: ${error instanceof Error ? error.message : String(error)}\n`);
  };
