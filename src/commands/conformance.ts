import { join } from "node:path";
import { allAgents } from "#agents/registry.ts";
import {
  commandImplementation,
  KIT_KINDS,
  type KitKind,
  kitLines,
  ourImplementation,
  readKit,
  runKit,
} from "#check/conformance/kit.ts";
import type { Context } from "#config/context.ts";
import type { EnvelopeText } from "#core/model/envelope-types.ts";
import { UserError } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { printable, terminalOf } from "#kit/text/terminal.ts";

interface ConformanceOptions {
  /** Kinds of cases, separated by commas. @default `convert` for a command, all for this program */
  readonly kinds?: string;
  /** Only payloads of this agent. */
  readonly source?: string;
  /** Only cases up to this level. */
  readonly level?: string;
  /** The text that this program writes. */
  readonly text?: EnvelopeText;
  readonly packageRoot: string;
}

/**
 * `openhook-otel conformance`: runs the conformance kit against a command, or against this program.
 *
 * @param command a shell command; the kit's README describes its input and output
 * @returns exit code: 0; 1 if a case failed
 * @throws UserError for unknown kinds, and if no case is left
 */
export async function conformance(
  command: string | undefined,
  options: ConformanceOptions,
  context: Context,
): Promise<number> {
  const kinds = (options.kinds ?? (command === undefined ? KIT_KINDS.join(",") : "convert")).split(",");
  const unknown = kinds.find((kind) => !KIT_KINDS.includes(kind as KitKind));
  if (unknown !== undefined) {
    throw new UserError("E_USAGE", `unknown kind ${JSON.stringify(unknown)}; known are: ${KIT_KINDS.join(", ")}`);
  }
  const cases = (await readKit(join(options.packageRoot, "conformance"))).filter(
    ({ kind, source, level }) =>
      kinds.includes(kind) &&
      level <= Number(options.level ?? 3) &&
      (options.source === undefined || source === undefined || source === options.source),
  );
  if (cases.length === 0) throw new UserError("E_USAGE", "no case is left");
  const implementation =
    command === undefined
      ? ourImplementation(await allAgents(), options.text ?? "context", context.now)
      : commandImplementation(command, context.env, context.cwd);
  const results = await runKit(cases, implementation);
  printLines(context, [...kitLines(results, terminalOf(context))].map(printable));
  return results.some(({ fault }) => fault !== undefined) ? 1 : 0;
}
