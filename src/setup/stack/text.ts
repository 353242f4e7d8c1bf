import { join, relative } from "node:path";
import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { StackPlan } from "./files.ts";

/** What a dry run would do. @param before `otlp.endpoint` in the user's file */
export function dryRunText({ folder, writes, removes, kept }: StackPlan, before: string | undefined): string {
  const lines = [
    ...writes.map(({ path, isNew }) => `would ${isNew ? "write" : "replace"} ${join(folder, path)}`),
    ...removes.map((path) => `would remove ${join(folder, path)}`),
    ...kept.map((path) => `would keep ${join(folder, path)}, because you changed it`),
    ...(before === STACK_ENDPOINT
      ? []
      : [`would set otlp.endpoint to ${STACK_ENDPOINT}${before === undefined ? "" : ` (now ${printable(before)})`}`]),
  ];
  return `${[...(lines.length === 0 ? [`${folder} is up to date`] : lines), "Dry run: nothing was written."].join("\n")}\n`;
}

/** What was written. */
export function writtenText({ folder, writes, removes }: StackPlan): string {
  const fresh = writes.filter(({ isNew }) => isNew).length;
  const replaced = writes.filter(({ isNew }) => !isNew).map(({ path }) => path);
  if (writes.length + removes.length === 0) return `${folder} is up to date\n`;
  return [
    ...(fresh > 0 ? [`${plural(fresh, "file")} written to ${folder}`] : []),
    ...(replaced.length > 0 ? [`replaced in ${folder}: ${pathsText(replaced)}`] : []),
    ...(removes.length > 0 ? [`removed from ${folder}: ${pathsText(removes)}`] : []),
    "",
  ].join("\n");
}

/** Why nothing was written: files in the folder differ from what we wrote. */
export function changedText(folder: string, paths: readonly string[]): string {
  const [are, them] = paths.length === 1 ? ["has", "it"] : ["have", "them"];
  return `${pathsText(paths)} in ${folder} ${are} changed since openhook-otel wrote ${them}; nothing was written: --force overwrites ${them}, --directory uses another folder`;
}

/** How to start the stack, where its pages are, and how to remove it. */
export function nextStepsText(folder: string, { cwd }: Context): string {
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

/** Paths as a list for messages; of more than four, the first three. */
export const pathsText = (paths: readonly string[]): string =>
  paths.length <= 4 ? paths.join(", ") : `${paths.slice(0, 3).join(", ")} and ${paths.length - 3} more`;

/** The Collector of the stack, as compose.yaml publishes it. */
export const STACK_ENDPOINT = "http://127.0.0.1:4318";
export const COMPOSE_FILE = join("collector-config", "compose.yaml");

/** `otlp.endpoint` in the user's file. Only the file is changed and restored; environment variables override it. */
export const endpointOfFile = async ({ places }: Context): Promise<string | undefined> =>
  (await loadConfig({ places, env: {} })).config.otlp.endpoint;
