import type { Context } from "#config/context.ts";
import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import { planOf, removeStack, type StackRecord } from "#setup/stack/files.ts";
import { endpointOfFile, pathsText, STACK_ENDPOINT } from "#setup/stack/text.ts";
import { config } from "./config.ts";

/**
 * `openhook-otel stack --undo`: removes the files of the stack and restores `otlp.endpoint`. Containers keep running.
 *
 * @returns exit code: 0
 */
export async function undoStack(
  folder: string,
  record: StackRecord | undefined,
  { dryRun, force }: { readonly dryRun: boolean; readonly force: boolean },
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
  if (kept.length > 0)
    context.stdout.write(`kept, because you changed it: ${pathsText(kept)} (--force removes it too)\n`);
  if (dryRun) {
    if (isOurs) context.stdout.write(`otlp.endpoint would be ${back === undefined ? "unset" : printable(back)}\n`);
    return 0;
  }
  await removeStack(folder, removes);
  if (isOurs) {
    const key = "otlp.endpoint";
    await config(back === undefined ? { kind: "unset", key } : { kind: "set", key, value: back }, context);
  }
  context.stdout.write(
    "To stop running containers and delete their data: docker compose --project-name openhook-otel down --volumes\n",
  );
  return 0;
}
