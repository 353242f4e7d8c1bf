/** A stream that commands write to. */
export interface Output {
  write(text: string): unknown;
  /** Replaces the line that the cursor is in; on terminals only. */
  rewrite?(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/**
 * Escapes control characters in everything that a command writes (`\u001b`); JSON stays equivalent. Colours pass if the
 * stream is a terminal.
 *
 * @param isCiLog whether a CI system reads the stream: then also what it would take for a command to it
 */
export const safeOutput = (stream: Output, isCiLog = false): Output => ({
  write: (text) => stream.write(safeText(text, stream.isTTY === true, isCiLog)),
  rewrite: (text) => stream.write(`\r\x1b[K${safeText(text, true, isCiLog).replaceAll(/\r?\n/g, " ")}`),
  get isTTY() {
    return stream.isTTY;
  },
  get columns() {
    return stream.columns;
  },
});

/** Whether a CI system reads the output of this process. */
export const isCiLog = (env: Readonly<Record<string, string | undefined>>): boolean =>
  // Azure Pipelines and TeamCity do not set CI
  ["CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION"].some(
    (name) => !["", "false", undefined].includes(env[name]),
  );

/**
 * Escapes control characters except line breaks (`\n` and `\r\n`), and except colours if they are wanted.
 *
 * @param isCiLog also the first character of what a CI system takes for a command
 */
export function safeText(raw: string, hasColours = false, isCiLog = false): string {
  const text = isCiLog ? raw.replace(CI_COMMAND, (all) => `${all.slice(0, -1)}${escaped(all.slice(-1))}`) : raw;
  if (!UNSAFE.test(text)) return text;
  return text.replace(ALL_UNSAFE, (found) =>
    found === "\r\n" || (hasColours && found.length > 1) ? found : `${escaped(found[0] ?? "")}${found.slice(1)}`,
  );
}

// --- internal ---

/** Everything that terminals interpret except a line feed: C0 and C1 controls, and characters that change text direction. */
const CONTROL = "[\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]";
const UNSAFE = new RegExp(CONTROL);
/** Colours and whole line breaks first: they begin with a control character. */
const ALL_UNSAFE = new RegExp(`\\r\\n|\\u001b\\[[0-9;]{0,20}m|${CONTROL}`, "g");

/**
 * The beginning of a command in a CI log, up to the character to escape: `##vso[…]`, `##[…]` and `##teamcity[…]` anywhere in a line,
 * `::name::` at its beginning.
 */
const CI_COMMAND = /##(?=[a-z]{0,20}\[)|^[^\S\n]*:(?=:)/gim;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
