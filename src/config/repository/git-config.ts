/** One setting of a git configuration, in the order of the file. */
export interface GitSetting {
  /** In lower case. */
  readonly section: string;
  /** As written; absent for `[section]`. */
  readonly subsection?: string;
  /** In lower case. */
  readonly key: string;
  readonly value: string;
}

/**
 * Reads a configuration in git's format: comments, quotes, escapes, continued lines, a setting in the line of its section's header.
 *
 * @returns `undefined` if git would refuse the file
 * @throws never
 * @see https://git-scm.com/docs/git-config#_syntax (read 2026-11-28)
 */
export function parseGitConfig(text: string): readonly GitSetting[] | undefined {
  const settings: GitSetting[] = [];
  const lines = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  let section: Pick<GitSetting, "section" | "subsection"> = { section: "" };
  let at = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(lines);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  for (;;) {
    next(BETWEEN);
    if (at >= lines.length) return settings;
    const header = next(HEADER);
    if (header !== null) {
      section = sectionOf(header);
      continue;
    }
    const key = next(KEY)?.[1]?.toLowerCase();
    if (key === undefined) return undefined;
    if (next(EQUALS) === null) {
      if (next(END) === null && at < lines.length) return undefined;
      settings.push({ ...section, key, value: "true" });
      continue;
    }
    const value = valueAt(lines, at);
    if (value === undefined) return undefined;
    settings.push({ ...section, key, value: value.text });
    at = value.end;
  }
}

// --- internal ---

/** Space, empty lines and comments. */
const BETWEEN = /(?:\s|[#;][^\n]*)+/y;
const HEADER = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?[ \t]*\]/y;
const KEY = /([A-Za-z][A-Za-z0-9-]*)[ \t]*/y;
const EQUALS = /=/y;
const END = /\n/y;

function sectionOf([, name = "", quoted]: RegExpExecArray): Pick<GitSetting, "section" | "subsection"> {
  if (quoted !== undefined) return { section: name.toLowerCase(), subsection: quoted.replace(/\\(.)/g, "$1") };
  // The older form: [section.subsection]
  const dot = name.indexOf(".");
  const lower = name.toLowerCase();
  return dot < 0 ? { section: lower } : { section: lower.slice(0, dot), subsection: lower.slice(dot + 1) };
}

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", "\\": "\\", '"': '"', "\n": "" };

/** A value up to its line's end or a comment. @returns `undefined` for an unknown escape and for quotes that are not closed */
function valueAt(lines: string, start: number): { readonly text: string; readonly end: number } | undefined {
  const parts: string[] = [];
  /** Number of parts without the space at the end, which counts only in quotes. */
  let kept = 0;
  let isQuoted = false;
  let end = start;
  for (; end < lines.length && lines[end] !== "\n"; end++) {
    const one = lines[end] ?? "";
    if (!isQuoted && (one === "#" || one === ";")) break;
    if (one === '"') {
      isQuoted = !isQuoted;
      kept = parts.length;
    } else if (one === "\\") {
      const escaped = ESCAPED[lines[++end] ?? "\n"];
      if (escaped === undefined) return undefined;
      if (escaped !== "") kept = parts.push(escaped);
    } else if (isQuoted || !/\s/.test(one)) kept = parts.push(one);
    else if (parts.length > 0) parts.push(one);
  }
  return isQuoted ? undefined : { text: parts.slice(0, kept).join(""), end };
}
