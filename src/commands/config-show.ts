import type { Context } from "#config/context.ts";
import { type EffectiveSetting, effectiveSettings, effectiveText } from "#config/effective.ts";
import { readFileIfAny } from "#config/files.ts";
import { keyOf } from "#config/layer.ts";
import { type LoadedConfig, loadConfig } from "#config/load.ts";
import { knownTarget } from "#config/user-file.ts";
import { suggest } from "#kit/suggest.ts";
import { printable } from "#kit/text/terminal.ts";

/**
 * `openhook-otel config show`: settings, their values and where these come from. Without `all` only settings that were
 * set somewhere; JSON has all.
 */
export async function showConfig(
  { json, all }: { readonly json: boolean; readonly all?: boolean },
  context: Context,
): Promise<number> {
  const loaded = await loadConfig(context);
  const { configPath, machineConfigPath } = context.places;
  const rows = effectiveSettings(loaded);
  const exists = (await readFileIfAny(configPath).catch(() => Buffer.alloc(0))) !== undefined;
  const machine = (await readFileIfAny(machineConfigPath).catch(() => Buffer.alloc(0))) !== undefined;
  if (json)
    context.stdout.write(`${JSON.stringify(asJson(rows, loaded, { file: configPath, exists, machine }), null, 2)}\n`);
  else {
    context.stdout.write(`file: ${printable(configPath)}${exists ? "" : " (none yet)"}\n`);
    context.stdout.write(`${machineLine(loaded, machine)}\n`);
    const shown = all === true ? rows : rows.filter(({ key }) => loaded.sources.get(key)?.kind !== "default");
    const cells = shown.map((row) => [row.key, printable(effectiveText(row)), row.source]);
    if (cells.length > 0)
      for (const line of aligned([["SETTING", "VALUE", "FROM"], ...cells])) context.stdout.write(`${line}\n`);
    const left = rows.length - shown.length;
    if (left > 0) context.stdout.write(`${cells.length > 0 ? "\n" : ""}${defaultsText(left, shown.length)}\n`);
    if (loaded.warnings.length + loaded.errors.length > 0) context.stderr.write("\n");
    for (const warning of loaded.warnings) context.stderr.write(`warning: ${printable(warning)}\n`);
    for (const error of loaded.errors) context.stderr.write(`error: ${printable(error)}\n`);
  }
  return loaded.errors.length > 0 ? 2 : 0;
}

/** `openhook-otel config get`: one value; of a whole map a JSON object. */
export async function getSetting(key: string, context: Context): Promise<number> {
  const target = knownTarget(key);
  const loaded = await loadConfig(context);
  for (const error of loaded.errors) context.stderr.write(`error: ${printable(error)}\n`);
  const wanted = keyOf(target);
  const isWholeMap = target.setting.kind === "map" && target.entry === undefined;
  const rows = effectiveSettings(loaded).filter(({ key: name }) =>
    isWholeMap ? name.startsWith(`${wanted}.`) : name === wanted,
  );
  const values = rows.flatMap(({ key: name, value }) => (value === undefined ? [] : [[name, value] as const]));
  if (isWholeMap) {
    const entries = values.map(([name, value]) => [name.slice(wanted.length + 1), value]);
    context.stdout.write(`${JSON.stringify(Object.fromEntries(entries))}\n`);
  } else {
    for (const [, value] of values) context.stdout.write(`${printable(String(value))}\n`);
  }
  if (loaded.errors.length > 0) return 2;
  return values.length > 0 || isWholeMap ? 0 : 1;
}

// --- internal ---

const defaultsText = (left: number, shown: number): string =>
  `${shown === 0 ? `all ${left}` : `${left} more`} settings have their default: ${suggest("config --all")} shows them`;

/** The administrator's file and its locks; an empty line where there is none. */
function machineLine({ machinePath, locked }: LoadedConfig, exists: boolean): string {
  if (!exists) return "";
  const what = locked.length === 0 ? "locks nothing" : `locks ${locked.join(", ")}`;
  return `machine file: ${printable(machinePath)}, ${printable(what)}\n`;
}

const asJson = (
  rows: readonly EffectiveSetting[],
  { sources, warnings, errors, locked, machinePath }: LoadedConfig,
  { file, exists, machine }: { readonly file: string; readonly exists: boolean; readonly machine: boolean },
) => ({
  file,
  exists,
  machine: { file: machinePath, exists: machine, locked },
  settings: rows.map(({ key, setting, value, isLocked }) => ({
    key,
    value: value ?? null,
    source: sources.get(key),
    variable: setting.filesOnly ? null : setting.variable,
    locked: isLocked,
    ...(setting.unit !== undefined && { unit: setting.unit }),
  })),
  warnings,
  errors,
});

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
