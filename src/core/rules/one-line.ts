/**
 * The first line of a text that has any, without repeated spaces.
 *
 * @returns at most 200 characters; `undefined` for anything but a text with visible characters
 */
export function firstLine(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const line = value
    .slice(0, MAX_SEARCHED)
    .split("\n")
    .map((one) => one.replace(/\s+/g, " ").trim())
    .find((one) => one !== "");
  const shown = line?.replace(/^"(.*)"$/, "$1").slice(0, MAX_CHARACTERS);
  // Half a character at the end
  return shown?.replace(/[\ud800-\udbff]$/, "");
}

/**
 * What a tool call did, in one line: its command, the file it worked on, the pattern it searched for, the task it gave. Agents
 * name these differently, so the first known name counts, in the order of `MEMBERS`; without one, the first text.
 *
 * @param given the call's arguments: text or any JSON value
 * @returns at most 200 characters; `undefined` if the arguments have no text
 */
export function callLine(given: unknown): string | undefined {
  const value = parsedObject(given);
  if (Array.isArray(value)) return listLine(value);
  if (typeof value !== "object" || value === null) return patchedFiles(value) ?? firstLine(value);
  const members = new Map(Object.entries(value));
  for (const name of MEMBERS) {
    const line = memberLine(members.get(name));
    if (line !== undefined) return line;
  }
  for (const one of members.values()) {
    const line = patchedFiles(one) ?? firstLine(one);
    if (line !== undefined) return line;
  }
  // Some agents wrap the arguments once more
  const inner = [...members.values()].find((one) => typeof one === "object" && one !== null);
  return inner === undefined ? undefined : callLine(inner);
}

// --- internal ---

/** More than any row shows. */
const MAX_CHARACTERS = 200;
/** Of a text, before its first line with visible characters. */
const MAX_SEARCHED = 10_000;

/** What says most about a call comes first. */
const MEMBERS = [
  ...["command", "cmd", "script", "commandLine", "CommandLine"],
  // Searches name the folder too, which says less
  ...["pattern", "query", "regex"],
  ...[
    "file_path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "target_file",
    "TargetFile",
    "filename",
    "path",
    "paths",
  ],
  ...["search", "q"],
  ...["url", "uri"],
  ...["description", "title", "task", "prompt", "message", "question"],
] as const;

/** A command in words, or several things that the call worked on. */
function listLine(values: readonly unknown[]): string | undefined {
  if (values.every((value) => typeof value === "string")) return firstLine(commandText(values));
  return firstLine(values.flatMap((value) => callLine(value) ?? []).join(", "));
}

function memberLine(value: unknown): string | undefined {
  if (Array.isArray(value)) return listLine(value);
  return typeof value === "string" ? firstLine(value) : undefined;
}

/** `["bash", "-lc", "npm test"]` is the command `npm test`; other lists are joined. */
function commandText(words: readonly string[]): string {
  const [shell = "", option = "", script] = words;
  const isScript = words.length === 3 && script !== undefined && /(?:^|[\\/])(?:\w*sh|cmd)(?:\.exe)?$/.test(shell);
  return isScript && /^[-/]\w*c$/i.test(option) ? script : words.join(" ");
}

/** The files of a patch, which is a text without anything else that says what it did. */
function patchedFiles(value: unknown): string | undefined {
  if (typeof value !== "string" || !value.startsWith("*** Begin Patch")) return undefined;
  const files = [...value.slice(0, MAX_SEARCHED).matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)];
  return firstLine(files.map(([, path]) => path).join(", "));
}

function parsedObject(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    // A text that only begins like JSON
    return value;
  }
}
