/** Token counts that look like the usage of a request, in any of the forms that agents and providers write. */
export interface ShapedUsage {
  /** Names of the members that lead to it, joined by dots; lists are left out. */
  readonly path: string;
  readonly input: number;
  readonly output: number;
}

/** All such objects in a record, nested ones too, but none inside another. */
export function usagesIn(record: unknown): readonly ShapedUsage[] {
  const found: ShapedUsage[] = [];
  walk(record, "", 0, found);
  return found;
}

// --- internal ---

const INPUT = /^(?:input|prompt)(?:_?tokens?)?(?:_?count)?$/i;
const OUTPUT = /^(?:output|completion|candidates)(?:_?tokens?)?(?:_?count)?$/i;
const MAX_DEPTH = 24;
const MAX_FOUND = 1_000;

function walk(value: unknown, path: string, depth: number, found: ShapedUsage[]): void {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH || found.length >= MAX_FOUND) return;
  if (Array.isArray(value)) {
    for (const one of value) walk(one, path, depth + 1, found);
    return;
  }
  const members = Object.entries(value);
  const input = countOf(members, INPUT);
  const output = countOf(members, OUTPUT);
  if (input !== undefined && output !== undefined) {
    if (input + output > 0) found.push({ path, input, output });
    return;
  }
  for (const [name, one] of members) walk(one, path === "" ? name : `${path}.${name}`, depth + 1, found);
}

function countOf(members: readonly (readonly [string, unknown])[], name: RegExp): number | undefined {
  for (const [member, value] of members) {
    if (name.test(member) && typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  }
  return undefined;
}
