import type { Node } from "jsonc-parser";
import { nodeAt, propertiesOf } from "./jsonc.ts";
import { rootOf, wrong } from "./settings.ts";

/**
 * Parses a file with the lists `hooks.<event>[]`, in which each entry is one hook, and checks the shape on which we and the agent rely.
 *
 * @param body the file without a byte order mark
 * @returns its top object, and the list of each event; none if it has no `hooks`
 * @throws SettingsError for invalid JSON, a top level or `hooks` that is no object, an event that is no array, a duplicate key
 */
export function readFlatHooks(body: string): {
  readonly root: Node;
  readonly lists: readonly { readonly key: string; readonly value: Node }[];
} {
  const root = rootOf(body);
  if (root.type !== "object") throw wrong(body, root, "the top level is not an object");
  requireUnique(body, root, "hooks", "");
  const hooks = nodeAt(root, ["hooks"]);
  if (hooks === undefined) return { root, lists: [] };
  if (hooks.type !== "object") throw wrong(body, hooks, '"hooks" is not an object');
  const lists = propertiesOf(hooks);
  for (const { key, value } of lists) {
    requireUnique(body, hooks, key, "hooks.");
    if (value.type !== "array") throw wrong(body, value, `"hooks.${key}" is not an array`);
  }
  return { root, lists };
}

// --- internal ---

/** Rejects duplicate keys: readers use the last one, so removing it would activate the other. */
function requireUnique(body: string, object: Node, key: string, prefix: string): void {
  const second = propertiesOf(object).filter((property) => property.key === key)[1];
  if (second !== undefined) throw wrong(body, second.value, `duplicate key "${prefix}${key}"`);
}
