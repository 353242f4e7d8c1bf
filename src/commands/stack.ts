import { dirname, join, resolve } from "node:path";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
import { printable } from "#kit/text/terminal.ts";
import { withUserErrors } from "#setup/registration/settings.ts";
import { planOf, readRecord, type StackPlan, type StackRecord, shippedFiles, writeStack } from "#setup/stack/files.ts";
import {
  COMPOSE_FILE,
  changedText,
  dryRunText,
  endpointOfFile,
  nextStepsText,
  pathsText,
  STACK_ENDPOINT,
  writtenText,
} from "#setup/stack/text.ts";
import { config } from "./config.ts";
import { askYesNo, isInteractive } from "./prompts.ts";
import { undoStack } from "./stack-undo.ts";

export interface StackOptions {
  /** Where the files go. @default `stack` beside the user's configuration file */
  readonly directory?: string;
  /** Print compose.yaml and do nothing. */
  readonly print: boolean;
  readonly dryRun: boolean;
  /** Do not ask before `otlp.endpoint` is set. */
  readonly yes: boolean;
  /** Overwrite files that the user has changed. */
  readonly force: boolean;
  /** Remove the files, and restore `otlp.endpoint`. */
  readonly undo: boolean;
}

/**
 * `openhook-otel stack`: writes the files of the local stack (Collector, Jaeger, Tempo, Prometheus, Grafana with our
 * dashboards) and sets `otlp.endpoint` to its Collector. Starts nothing: the output has the command that does.
 *
 * @param packageRoot holds `collector-config` and `dashboards`
 * @returns exit code: 0 done or nothing to do; 1 the user cancelled
 * @throws UserError when the user has changed files, no terminal can ask the question, or a file cannot be written
 */
export async function stack(options: StackOptions, context: Context, packageRoot: string): Promise<number> {
  return withUserErrors(async () => {
    const shipped = await shippedFiles(packageRoot);
    if (options.print) {
      context.stdout.write(shipped.get(COMPOSE_FILE)?.toString("utf8") ?? "");
      return 0;
    }
    const folder = resolve(context.cwd, options.directory ?? join(dirname(context.places.configPath), "stack"));
    const record = await readRecord(folder);
    if (options.undo) return undoStack(folder, record, options, context);
    return write(await planOf(folder, shipped, record, options.force), record, options, context);
  });
}

// --- internal ---

async function write(
  plan: StackPlan,
  record: StackRecord | undefined,
  options: StackOptions,
  context: Context,
): Promise<number> {
  const { folder, changed, kept } = plan;
  if (changed.length > 0) throw new UserError("E_CHANGED", changedText(folder, changed), 1);
  const before = await endpointOfFile(context);
  const isSet = before === STACK_ENDPOINT;
  if (options.dryRun) {
    context.stdout.write(dryRunText(plan, before));
    return 0;
  }
  const choice = isSet ? "no need" : await askForEndpoint(before, options.yes, context);
  if (choice === "cancelled") {
    context.stdout.write("Nothing was changed.\n");
    return 1;
  }
  const endpoint = choice === "yes" ? { before: before ?? null } : isSet ? record?.endpoint : undefined;
  await writeStack(plan, endpoint);
  context.stdout.write(writtenText(plan));
  if (kept.length > 0)
    context.stdout.write(`kept, because you changed it: ${pathsText(kept)} (--force overwrites it)\n`);
  if (choice === "yes") {
    const code = await config({ kind: "set", key: "otlp.endpoint", value: STACK_ENDPOINT }, context);
    if (code !== 0) return code;
  } else if (choice === "no") {
    context.stdout.write(
      `otlp.endpoint stays ${before === undefined ? "unset" : printable(before)}. Later: ${suggest(`config set otlp.endpoint ${STACK_ENDPOINT}`)}\n`,
    );
  }
  context.stdout.write(nextStepsText(folder, context));
  return 0;
}

/**
 * Asks whether to set `otlp.endpoint`. "no" still writes the files, which are useful without it.
 *
 * @throws UserError when this is no terminal
 */
async function askForEndpoint(
  before: string | undefined,
  yes: boolean,
  context: Context,
): Promise<"yes" | "no" | "cancelled"> {
  if (yes) return "yes";
  if (!isInteractive(context)) {
    throw new UserError(
      "E_CONFIRM",
      `this sets otlp.endpoint to ${STACK_ENDPOINT}: pass --yes, or run it in a terminal to confirm; --print only prints`,
    );
  }
  const instead = before === undefined ? "" : ` instead of ${before}`;
  const message = `Export to ${STACK_ENDPOINT}${instead}? (otlp.endpoint in ${context.places.configPath})`;
  return askYesNo(message, context);
}
