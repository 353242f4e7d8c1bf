import { readFile } from "node:fs/promises";
import { ENVELOPE_TYPES } from "#core/model/envelope-types.ts";
import { checkedDiscovery } from "./discovery-file.lazy.ts";

/**
 * `.openhook.json`, in which a project configures the hooks that OpenHook senders run.
 *
 * @see OpenHook v0.1 §4
 */
export interface Discovery {
  readonly hooks: readonly { readonly command: string; readonly events: readonly string[]; readonly async: boolean }[];
}

export const DISCOVERY_NAME = ".openhook.json";

/**
 * @returns the file's content, or one line about its error; `undefined` if there is none
 */
export async function readDiscovery(path: string): Promise<Discovery | string | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return code === "ENOENT" ? undefined : `it cannot be read (${code})`;
  }
  return discoveryIn(text);
}

/** The content of such a file, or one line about its error. */
export function discoveryIn(text: string): Discovery | string {
  const value = parsed(text.replace(/^\uFEFF/, ""));
  if (value === undefined) return "it is not JSON";
  return checkedDiscovery(value);
}

/** Event types for which the file has at least one hook. */
export function subscribed({ hooks }: Discovery): ReadonlySet<string> {
  const named = hooks.flatMap(({ events }) => events);
  return new Set(named.includes("*") ? [...ENVELOPE_TYPES, ...named] : named);
}

// --- internal ---

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
