/** A line of a content's text. `name`: the line above a value. */
export interface ShownLine {
  readonly kind: "plain" | "name" | "added" | "removed";
  readonly text: string;
}

/**
 * A text as lines. Of JSON each member has its name and, below it, its value; what an edit replaces and writes is marked as in a diff,
 * as are the lines of a patch.
 */
export function contentLinesOf(text: string): readonly ShownLine[] {
  const members = membersOf(text);
  if (members === undefined) return isPatch(text) ? text.split("\n").map(patchLine) : plain(text);
  if (members.length === 1) return valueLines(members[0]?.[0] ?? "", members[0]?.[1]);
  return members.flatMap(([name, value]): readonly ShownLine[] => {
    const lines = valueLines(name, value);
    const [only] = lines;
    return lines.length === 1 && only?.kind === "plain"
      ? [{ kind: "plain", text: `${name}: ${only.text}` }]
      : [{ kind: "name", text: `${name}:` }, ...lines];
  });
}

// --- internal ---

/** Members that agents give the text to replace, and its replacement. */
const OLD = /^(?:old_?(?:str(?:ing)?|text)?|search)$/i;
const NEW = /^(?:new_?(?:str(?:ing)?|text)?|replace(?:ment)?|content|file_text)$/i;

function valueLines(name: string, value: unknown): readonly ShownLine[] {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  if (typeof value !== "string") return plain(text);
  if (OLD.test(name)) return marked(text, "removed", "- ");
  if (NEW.test(name)) return marked(text, "added", "+ ");
  return isPatch(text) ? text.split("\n").map(patchLine) : plain(text);
}

const plain = (text: string): readonly ShownLine[] => text.split("\n").map((line) => ({ kind: "plain", text: line }));

const marked = (text: string, kind: ShownLine["kind"], sign: string): readonly ShownLine[] =>
  text.split("\n").map((line) => ({ kind, text: sign + line }));

const isPatch = (text: string): boolean => /^(?:\*\*\* Begin Patch|diff --git |--- .*\n\+\+\+ )/m.test(text);

function patchLine(text: string): ShownLine {
  if (/^\+(?!\+\+ )/.test(text)) return { kind: "added", text };
  return { kind: /^-(?!-- )/.test(text) ? "removed" : "plain", text };
}

/** @returns `undefined`: it is no JSON object */
function membersOf(text: string): readonly (readonly [string, unknown])[] | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? Object.entries(value) : undefined;
  } catch {
    // A text that only begins like JSON
    return undefined;
  }
}
