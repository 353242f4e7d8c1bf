import { rmdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { confirm, isCancel } from "@clack/prompts";
import { removeFile, writeFileAtomic } from "../config/files.ts";
import { loadConfig } from "../config/load.ts";
import { type Context, UserError } from "../context.ts";
import { suggest } from "../model/suggest.ts";
import { canAsk, streamsOf, withUserErrors } from "../registration/settings-edit.ts";
import { planOf, type StackPlan, shippedFiles } from "../stack/files.ts";
import { readRecord, recordPathOf, type StackRecord, writeRecord } from "../stack/record.ts";
import { plural } from "../text/figures.ts";
import { printable } from "../text/terminal.ts";
import { config } from "./config.ts";

export interface StackOptions {
  /** Where the files go. @default `stack` beside the user's configuration file */
  readonly directory?: string;
  /** Print compose.yaml and do nothing. */
  readonly print: boolean;
  readonly dryRun: boolean;
  /** Do not ask before `otlp.endpoint` is set. */
  readonly yes: boolean;
  /** Write over files that the user has changed. */
  readonly force: boolean;
  /** Take the files away again, and put `otlp.endpoint` back. */
  readonly undo: boolean;
}

/** The Collector of the stack, as compose.yaml publishes it. */
export const STACK_ENDPOINT = "http://127.0.0.1:4318";
export const COMPOSE_FILE = join("collector-config", "compose.yaml");

/**
 * `openhook-otel stack`: writes the files of the local stack (Collector, Jaeger, Tempo, Prometheus, Grafana with our
 * dashboards) and points the user's settings at its Collector. Starts nothing: it says which command does.
 *
 * @param packageRoot holds `collector-config` and `dashboards`
 * @returns the exit code: 0 done or nothing to do, 1 when the user does not want it
 * @throws UserError when files were changed by the user, nobody can be asked, or a place cannot be written
 */
export async function stack(options: StackOptions, context: Context, packageRoot: string): Promise<number> {
  return withUserErrors(async () => {
    const shipped = await shippedFiles(packageRoot);
    if (options.print) {
      context.stdout.write(shipped.get(COMPOSE_FILE)?.toString("utf8") ?? "");
      return 0;
    }
    const folder =
      options.directory === undefined
        ? join(dirname(context.places.configPath), "stack")
        : resolve(context.cwd, options.directory);
    const record = await readRecord(folder);
    if (options.undo) return undo(folder, record, options, context);
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
  if (changed.length > 0) {
    throw new UserError(
      "E_CHANGED",
      `${sentence(changed)} in ${folder} ${changed.length === 1 ? "is" : "are"} not as openhook-otel wrote ${changed.length === 1 ? "it" : "them"}; nothing was written: --force writes over ${changed.length === 1 ? "it" : "them"}, --directory takes another place`,
      1,
    );
  }
  const before = await endpointOfFile(context);
  const isPointed = before === STACK_ENDPOINT;
  if (options.dryRun) {
    context.stdout.write(dryRunOf(plan, isPointed, before));
    return 0;
  }
  const pointing = isPointed ? "no need" : await mayPoint(before, options.yes, context);
  if (pointing === "cancelled") {
    context.stdout.write("Nothing was changed.\n");
    return 1;
  }
  await carryOut(plan);
  const pointed = pointing === "yes" ? { before: before ?? null } : isPointed ? record?.endpoint : undefined;
  await writeRecord(folder, { files: plan.digests, ...(pointed !== undefined && { endpoint: pointed }) });
  context.stdout.write(reportOf(plan));
  if (kept.length > 0) context.stdout.write(`changed by you, stays: ${sentence(kept)} (--force writes over it)\n`);
  if (pointing === "yes") {
    const code = await config({ kind: "set", key: "otlp.endpoint", value: STACK_ENDPOINT }, context);
    if (code !== 0) return code;
  } else if (pointing === "no") {
    context.stdout.write(
      `otlp.endpoint stays ${before === undefined ? "unset" : printable(before)}. Later: ${suggest(`config set otlp.endpoint ${STACK_ENDPOINT}`)}\n`,
    );
  }
  context.stdout.write(nextOf(folder, context));
  return 0;
}

/** What is set, and put back, is the file's: a variable goes before it and is somebody else's affair. */
const endpointOfFile = async ({ places }: Context): Promise<string | undefined> =>
  (await loadConfig({ places, env: {} })).config.otlp.endpoint;

/** Where there is an address already, a "no" still leaves use for the files; where nobody can be asked, nothing is done. */
async function mayPoint(
  before: string | undefined,
  yes: boolean,
  context: Context,
): Promise<"yes" | "no" | "cancelled"> {
  if (yes) return "yes";
  if (!canAsk(context)) {
    throw new UserError(
      "E_CONFIRM",
      `this sets otlp.endpoint to ${STACK_ENDPOINT}: pass --yes, or run it in a terminal to be asked; --print only prints`,
    );
  }
  const instead = before === undefined ? "" : ` instead of to ${before}`;
  const message = `Send what is collected to ${STACK_ENDPOINT}${instead}? (otlp.endpoint in ${context.places.configPath})`;
  const answer = await confirm({ message, ...streamsOf(context) });
  if (isCancel(answer)) return "cancelled";
  return answer ? "yes" : "no";
}

async function carryOut({ folder, writes, removes }: StackPlan): Promise<void> {
  for (const { path, content } of writes) {
    const target = join(folder, path);
    // Containers read them as users of their own
    await writeFileAtomic(target, content, { mode: 0o644, forceMode: true, dirMode: 0o755 });
  }
  for (const path of removes) await removeFile(join(folder, path));
}

async function undo(
  folder: string,
  record: StackRecord | undefined,
  { dryRun, force }: StackOptions,
  context: Context,
): Promise<number> {
  if (record === undefined) {
    context.stdout.write(`Nothing to undo: openhook-otel has written no stack to ${folder}\n`);
    return 0;
  }
  const { removes, kept } = await planOf(folder, new Map(), record, force);
  const isOurs = record.endpoint !== undefined && (await endpointOfFile(context)) === STACK_ENDPOINT;
  const back = record.endpoint?.before ?? undefined;
  const would = dryRun ? "would be " : "";
  context.stdout.write(`${plural(removes.length, "file")} ${would}removed from ${folder}\n`);
  if (kept.length > 0) context.stdout.write(`${sentence(kept)}: changed by you, stays (--force removes it too)\n`);
  if (dryRun) {
    if (isOurs) context.stdout.write(`otlp.endpoint would be ${back === undefined ? "unset" : printable(back)}\n`);
    return 0;
  }
  for (const path of removes) await removeFile(join(folder, path));
  await removeFile(recordPathOf(folder));
  await removeEmpty(folder, removes);
  if (isOurs) {
    const key = "otlp.endpoint";
    await config(back === undefined ? { kind: "unset", key } : { kind: "set", key, value: back }, context);
  }
  context.stdout.write(
    "What still runs of it, and its data: docker compose --project-name openhook-otel down --volumes\n",
  );
  return 0;
}

/** Folders of removed files, the deepest first, as long as nothing else is in them. */
async function removeEmpty(folder: string, removed: readonly string[]): Promise<void> {
  const folders = new Set<string>([folder]);
  for (const path of removed) {
    for (let at = dirname(join(folder, path)); at.startsWith(folder) && at !== folder; at = dirname(at))
      folders.add(at);
  }
  for (const path of [...folders].sort((a, b) => b.length - a.length)) await rmdir(path).catch(() => {});
}

function dryRunOf(
  { folder, writes, removes, kept }: StackPlan,
  isPointed: boolean,
  before: string | undefined,
): string {
  const lines = [
    ...writes.map(({ path, isNew }) => `would ${isNew ? "write" : "replace"} ${join(folder, path)}`),
    ...removes.map((path) => `would remove ${join(folder, path)}`),
    ...kept.map((path) => `would leave ${join(folder, path)}, which you have changed`),
    ...(isPointed
      ? []
      : [`would set otlp.endpoint to ${STACK_ENDPOINT}${before === undefined ? "" : ` (now ${printable(before)})`}`]),
  ];
  return `${[...(lines.length === 0 ? [`${folder} is as it should be`] : lines), "Dry run: nothing was written."].join("\n")}\n`;
}

function reportOf({ folder, writes, removes }: StackPlan): string {
  const fresh = writes.filter(({ isNew }) => isNew).length;
  const replaced = writes.filter(({ isNew }) => !isNew).map(({ path }) => path);
  if (writes.length + removes.length === 0) return `${folder} is as it should be\n`;
  return [
    ...(fresh > 0 ? [`${plural(fresh, "file")} written to ${folder}`] : []),
    ...(replaced.length > 0 ? [`replaced in ${folder}: ${sentence(replaced)}`] : []),
    ...(removes.length > 0 ? [`removed from ${folder}: ${sentence(removes)}`] : []),
    "",
  ].join("\n");
}

function nextOf(folder: string, { cwd }: Context): string {
  const inside = relative(cwd, folder);
  const shown = join(inside.startsWith("..") || inside === "" ? folder : inside, COMPOSE_FILE);
  const file = /^[\w./:\\-]+$/.test(shown) ? shown : `"${shown}"`;
  return [
    `Start it:  docker compose --file ${file} up --detach --wait`,
    "Then:      Grafana http://127.0.0.1:3000 · Jaeger http://127.0.0.1:16686 · Prometheus http://127.0.0.1:9090",
    `Undo:      ${suggest("stack --undo")}`,
    "",
  ].join("\n");
}

const sentence = (paths: readonly string[]): string =>
  paths.length <= 4 ? paths.join(", ") : `${paths.slice(0, 3).join(", ")} and ${paths.length - 3} more`;
