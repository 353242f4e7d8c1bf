import { realpath } from "node:fs/promises";
import { dirname, relative, sep } from "node:path";
import { readSettingsText } from "#kit/open.ts";
import { asObject, asString } from "../payload/json.ts";
import { JsoncError, parseDocument, plainOf } from "../settings/jsonc.ts";

/** One of the settings files that apply together. */
export interface Layer {
  readonly path: string;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The readable files among some paths. @param paths in ascending precedence */
export async function layersOf(paths: readonly string[]): Promise<readonly Layer[]> {
  const layers: Layer[] = [];
  for (const path of new Set(paths)) {
    const settings = await readSettings(path);
    if (settings !== undefined) layers.push({ path, settings });
  }
  return layers;
}

/** The switch in the layer with the highest precedence that sets it. @param keys its place, e.g. `["hooksConfig", "enabled"]` */
export function effectiveSwitch(layers: readonly Layer[], keys: readonly string[]) {
  const valueIn = ({ settings }: Layer): unknown =>
    keys.reduce<unknown>((value, key) => asObject(value)?.[key], settings);
  const layer = layers.findLast((one) => typeof valueIn(one) === "boolean");
  return layer === undefined ? undefined : { path: layer.path, value: valueIn(layer) === true };
}

/** A settings file's value; `undefined` if the file is missing or invalid. */
export async function readSettings(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await readSettingsText(path);
  if (text === undefined) return undefined;
  try {
    return asObject(plainOf(parseDocument(text.replace(/^\uFEFF/, ""))));
  } catch (error) {
    if (error instanceof JsoncError) return undefined;
    throw error;
  }
}

/** Whether a folder is trusted: the rule with the longest matching path applies; `undefined` if none matches. */
export async function isTrusted(folder: string, rules: Readonly<Record<string, unknown>> | undefined) {
  const real = await realPath(folder);
  let longest = -1;
  let trusted: boolean | undefined;
  for (const [path, level] of Object.entries(rules ?? {})) {
    const root = await realPath(level === "TRUST_PARENT" ? dirname(path) : path);
    const relativePath = relative(root, real);
    if (
      relativePath === ".." ||
      relativePath.startsWith(`..${sep}`) ||
      root.length <= longest ||
      asString(level) === undefined
    )
      continue;
    longest = root.length;
    trusted = level !== "DO_NOT_TRUST";
  }
  return trusted;
}

// --- internal ---

const realPath = (path: string): Promise<string> => realpath(path).catch(() => path);
