import { type SharedProgram, sharedWindowsCommand } from "./windows-line.ts";

/** What a project's line starts. */
interface ProjectLine {
  /** The program on Linux and macOS: one word of a shell, which may begin with `~/`. */
  readonly posixProgram: string;
  readonly posixArgs: readonly string[];
  readonly windowsProgram: SharedProgram;
  readonly windowsArgs: readonly string[];
}

/**
 * The command line in a project's settings. People with any system share the file, so bash, other POSIX shells, fish, cmd and PowerShell
 * all run the same line; it contains no path of a person, and it ends with 0 if the program or Node is missing:
 *
 * ```text
 * set h \'=;POSIX PART;: \' ;WINDOWS PART ;exit 0 #openhook-otel& WINDOWS PART & exit 0
 * ```
 *
 * - For POSIX shells and fish `\'` is only a character. They start the program in the POSIX part, or end there, except on Windows.
 * - For PowerShell `\` has no meaning: the POSIX part is a text in quotes, the value of a variable `h`. Then comes the Windows part.
 * - For cmd everything until `&` is the value of a variable, whose name ends at `=`. `||` in it starts nothing, because setting a variable
 *   does not fail. Then comes the second Windows part, which is a comment for the others.
 */
export function projectLine(line: ProjectLine): string {
  const windows = sharedWindowsCommand(line.windowsProgram, line.windowsArgs);
  const posix = `${posixCommand(line)};[ "$OS" = Windows_NT ]||exit 0`;
  return `set h \\'=;${posix};: \\' ;${windows} ;exit 0 #openhook-otel& ${windows} & exit 0`;
}

/** Only the part for POSIX shells, for settings that have one line per system. */
export const posixCommand = ({ posixProgram, posixArgs }: ProjectLine): string =>
  startIfThere(posixProgram, posixArgs.map(word));

/** Starts a program if it is there, and otherwise ends with 0; in sh, bash, zsh, fish, dash, ksh and tcsh. */
export const startIfThere = (program: string, words: readonly string[]): string =>
  `[ ! -x ${program} ]||exec ${[program, ...words].join(" ")}`;

/**
 * The same, but sh, bash, zsh, dash and ksh read the program themselves instead of starting it, which saves a second shell. fish and tcsh
 * start it: quotes mean something else there, so the comparison is false. dash passes no words to a file that it reads, so they are
 * the shell's own, after the program. It reads a copy of the program, because where settings are shared, the program itself can be of
 * a version that can only be started. A line with words that need quotes starts the program in every shell.
 */
export function readIfThere(program: string, words: readonly string[]): string {
  const start = startIfThere(program, words);
  const all = [program, ...words].join(" ");
  if (!/^[\w.:/~ -]+$/.test(all)) return start;
  return `[ '\\\\' = "\\\\\\\\" ]&&eval 'set -- ${all};[ ! -r "$1.sh" ]||. "$1.sh"';${start}`;
}

/** The program that a line starts or reads on Linux and macOS; `undefined` for other lines. */
export function posixProgramIn(line: string): string | undefined {
  const [, quoted, plain] = /\[ ! -x (?:'((?:[^']|'\\'')*)'|(\S+?))[ ;]/.exec(line) ?? [];
  return quoted?.replaceAll("'\\''", "'") ?? plain;
}

// --- internal ---

/** In double quotes, because PowerShell's text in single quotes would end at one. */
const word = (text: string): string =>
  /^[\w.:/-]+$/.test(text) ? text : `"${text.replaceAll(/[\\"$`]/g, (one) => `\\${one}`)}"`;
