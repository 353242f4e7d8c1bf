/** Token counts that look like the usage of a request, in any of the forms that agents and providers write. */
export interface ShapedUsage {
  /** Names of the members that lead to it, and the kinds of the list elements in which it is, joined by dots. */
  readonly path: string;
  readonly input: number;
  readonly output: number;
}

/**
 * All such objects in a record, nested ones too, but none inside another.
 *
 * @param isKnown whether to leave out everything below a path
 */
export function usagesIn(record: unknown, isKnown: (path: string) => boolean = () => false): readonly ShapedUsage[] {
  const found: ShapedUsage[] = [];
  walk(record, "", 0, { found, isKnown });
  return found;
}

// --- internal ---

const INPUT = /^(?:input|prompt)(?:_?tokens?)?(?:_?count)?$/i;
const OUTPUT = /^(?:output|completion|candidates)(?:_?tokens?)?(?:_?count)?$/i;
const MAX_DEPTH = 24;
const MAX_FOUND = 1_000;

interface Search {
  readonly found: ShapedUsage[];
  readonly isKnown: (path: string) => boolean;
}

function walk(value: unknown, path: string, depth: number, search: Search): void {
  const { found, isKnown } = search;
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH || found.length >= MAX_FOUND) return;
  if (path !== "" && isKnown(path)) return;
  if (Array.isArray(value)) {
    for (const one of value) walk(one, joined(path, kindOf(one)), depth + 1, search);
    return;
  }
  const members = Object.entries(value);
  const input = countOf(members, INPUT);
  const output = countOf(members, OUTPUT);
  if (input !== undefined && output !== undefined) {
    if (input + output > 0) found.push({ path, input, output });
    return;
  }
  for (const [name, one] of members) walk(one, joined(path, name), depth + 1, search);
}

const joined = (path: string, name: string): string => (path === "" || name === "" ? path + name : `${path}.${name}`);

/** What an element of a list is, if it says so. */
function kindOf(element: unknown): string {
  if (typeof element !== "object" || element === null) return "";
  const { role, type, kind } = element as Readonly<Record<string, unknown>>;
  const named = [role, type, kind].find((one) => typeof one === "string" || typeof one === "number");
  return named === undefined ? "" : String(named);
}

function countOf(members: readonly (readonly [string, unknown])[], name: RegExp): number | undefined {
  for (const [member, value] of members) {
    if (name.test(member) && typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  }
  return undefined;
}
