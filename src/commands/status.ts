import { collectStatus } from "#check/health/examine.ts";
import { statusLines } from "#check/health/status-text.ts";
import type { Context } from "#config/context.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { VERSION } from "#kit/version.ts";

interface StatusOptions {
  readonly json: boolean;
}

/**
 * `openhook-otel status`: what is installed, what is queued, how the last drain and the last delivery went. Changes
 * nothing.
 *
 * @returns exit code: 1 if something is broken that only the user can fix (the lines with ✗: a state directory or store
 *          that cannot be used, a registered hook that cannot run, a registration that is gone, a wrong setting), else 0.
 *          An unreachable backend or a quarantined payload is neither: that data is kept.
 */
export async function status({ json }: StatusOptions, context: Context): Promise<number> {
  const facts = await collectStatus(context);
  if (json) context.stdout.write(`${JSON.stringify({ version: VERSION, ...facts })}\n`);
  else printLines(context, statusLines(facts, terminalOf(context), context.now()));
  return facts.broken.length > 0 ? 1 : 0;
}
