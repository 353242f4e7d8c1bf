import { statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { hint } from "#kit/nearest.ts";
import { type FileLayer, readDocument, unreadableDocument } from "./document.lazy.ts";
import { type Env, readOtelVariables, readOwnVariables } from "./environment.ts";
import { type Layer, newLayer, put, putText } from "./layer.ts";
import { readMachineFile } from "./machine-file.ts";
import type { Places } from "./places.ts";
import { type LoadedConfig, resolve } from "./resolve.ts";
import { SETTINGS, targetOf } from "./settings.ts";

export type { Source } from "./layer.ts";
export type { LoadedConfig } from "./resolve.ts";

/** Settings from the command line, by key; text is parsed like a variable. `undefined` counts as absent. */
export type Flags = Readonly<Record<string, unknown>>;

/**
 * Reads the configuration: flag > own variable > OpenTelemetry's variable > user file > machine file > default, each
 * setting separately, maps entry by entry. Only the machine file decides what it locks. No file of a repository is
 * read.
 *
 * Never throws: a broken value falls back to the next place with one, and is reported in `errors`. A broken value that
 * decides where data goes has no fallback: the signal is not sent (`otlp.<signal>.enabled` is false, source
 * `withheld`), and its records stay in the store.
 */
export async function loadConfig(
  from: {
    readonly env: Env;
    readonly places: Pick<Places, "configPath"> & Partial<Pick<Places, "machineConfigPath">>;
    /** Who may own the machine file. @default root */
    readonly trustedUids?: readonly number[];
  },
  flags: Flags = {},
): Promise<LoadedConfig> {
  return resolve({
    flags: readFlags(flags),
    own: readOwnVariables(from.env),
    otel: readOtelVariables(from.env),
    file: await readFileLayer(from.places.configPath),
    machine: await readMachineFile(from.places.machineConfigPath, from.trustedUids),
  });
}

// --- internal ---

async function readFileLayer(path: string): Promise<FileLayer> {
  try {
    // Most users have none, and the answer without a promise saves loading node:fs/promises
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return { ...newLayer(), unreadable: false };
    // Reading a pipe without input would block every drain
    if ((await stat(path)).isFIFO()) return unreadableDocument(path, "cannot be read (it is a pipe)");
    return readDocument(await readFile(path, "utf8"), path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return code === "ENOENT"
      ? { ...newLayer(), unreadable: false }
      : unreadableDocument(path, `cannot be read (${code})`);
  }
}

function readFlags(flags: Flags): Layer {
  const layer = newLayer();
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const origin = { source: { kind: "flag" }, place: "command line" } as const;
    const target = targetOf(key);
    if (target === undefined) {
      layer.errors.push(
        `command line: no setting ${key}.${hint(
          key,
          SETTINGS.map((setting) => setting.key),
        )}`,
      );
    } else if (typeof value === "string") putText(layer, target, value, origin);
    else put(layer, target, value, origin);
  }
  return layer;
}
