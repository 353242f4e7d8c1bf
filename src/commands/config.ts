import type { Context } from "#config/context.ts";
import { overrides } from "#config/effective.ts";
import { FileError } from "#config/files.ts";
import { keyOf } from "#config/layer.ts";
import { loadConfig } from "#config/load.ts";
import { shownValue } from "#config/redact.ts";
import { targetOf } from "#config/settings.ts";
import { knownTarget, refuseLocked, SettingError, setInFile, settingValue, unsetInFile } from "#config/user-file.ts";
import { UserError } from "#kit/errors.ts";
import { printable } from "#kit/text/terminal.ts";
import { refuseSudo } from "#setup/registration/sudo.ts";
import { checkPrices } from "./check-prices.ts";
import { getSetting, showConfig } from "./config-show.ts";

/** What the arguments of `openhook-otel config` mean. */
export type ConfigAction =
  | { readonly kind: "show"; readonly json: boolean; readonly all?: boolean }
  | { readonly kind: "get"; readonly key: string }
  | { readonly kind: "set"; readonly key: string; readonly value: string }
  | { readonly kind: "unset"; readonly key: string }
  | { readonly kind: "path" }
  | { readonly kind: "check-prices"; readonly file?: string };

/**
 * `openhook-otel config`: shows and changes the user's settings. Header values and secrets in addresses are masked.
 *
 * @returns exit code: 0; of `show` and `get` 2 when part of the configuration could not be used; of `get` 1 when the
 *          setting has no value
 * @throws UserError for an unknown key or a value that does not fit (2), and where the file cannot be read or written (1)
 */
export async function config(action: ConfigAction, context: Context): Promise<number> {
  try {
    return await run(action, context);
  } catch (error) {
    if (error instanceof FileError) throw new UserError(error.code, error.message, 1, { cause: error });
    if (error instanceof SettingError) throw new UserError(error.code, error.message, 2, { cause: error });
    throw error;
  }
}

// --- internal ---

function run(action: ConfigAction, context: Context): number | Promise<number> {
  switch (action.kind) {
    case "show":
      return showConfig(action, context);
    case "get":
      return getSetting(action.key, context);
    case "set":
      return set(action.key, action.value, context);
    case "unset":
      return unset(action.key, context);
    case "path":
      context.stdout.write(`${context.places.configPath}\n`);
      return 0;
    case "check-prices":
      return checkPrices(action.file, context);
  }
}

async function set(key: string, text: string, context: Context): Promise<number> {
  await refuseSudo(context);
  const target = knownTarget(key);
  refuseLocked(target, await loadConfig(context));
  const value = settingValue(target, text);
  const path = context.places.configPath;
  await setInFile(target, value, path);
  const display = typeof value === "object" ? JSON.stringify(value) : value;
  const loaded = await loadConfig(context);
  const shown = printable(String(shownValue(target.setting, display)));
  context.stdout.write(`${keyOf(target)} = ${shown} in ${printable(path)}\n`);
  for (const note of overrides(target, loaded)) context.stderr.write(`note: ${printable(note)}\n`);
  return 0;
}

async function unset(key: string, context: Context): Promise<number> {
  const path = context.places.configPath;
  const isRemoved = await unsetInFile(key, path);
  if (!isRemoved && targetOf(key) === undefined) knownTarget(key);
  const result = isRemoved ? "removed from" : "is not set in";
  context.stdout.write(`${printable(key)} ${result} ${printable(path)}\n`);
  return 0;
}
