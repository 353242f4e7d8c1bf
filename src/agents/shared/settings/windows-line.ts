import { win32 } from "node:path";

/** Where the hook program is, for one line. */
export interface WindowsLine {
  readonly hookPath: string;
  readonly nodePath: string;
  /** The folder that Windows gives programs for data of this machine, usually `AppData\\Local` in the user's profile. */
  readonly localData: string;
  /** A project's settings are shared with other people, so its lines contain no path of this user. */
  readonly scope: "user" | "project";
}

/**
 * The command line that agents run on Windows. Agents choose their shell by what is installed and by their version, so bash, cmd and
 * PowerShell all run this line, and it ends with 0 even if Node or the program is missing:
 *
 * - No shell needs quotes around the first word, and only PowerShell does not start a quoted one. Node's path is used if it needs no
 *   quotes (bash halves its backslashes, the other two ignore the second one), otherwise `node` is searched in PATH.
 * - bash and PowerShell end the command at `;`, end with 0 and ignore the comment. For cmd, `;` and what follows are arguments, which
 *   the hook ignores, and `& exit 0` is the next command.
 * - A path with other characters than ASCII letters is in JavaScript's notation, inside a string without any character that a shell
 *   treats specially.
 *
 * @param args plain words
 */
export function windowsLine(line: WindowsLine, args: readonly string[]): string {
  return [nodeWord(line.nodePath), programWords(line), ...args, END].join(" ");
}

/** The hook program's path in a line of ours; `undefined` if the line finds it by itself. */
export function programInLine(line: string): string | undefined {
  const written = /'([^']*hook\.cjs)'\);try/.exec(line)?.[1];
  if (written !== undefined && !written.startsWith("/openhook-otel/")) return decoded(written);
  return /^\S+ (\S*[/\\]hook\.cjs) --/.exec(line)?.[1];
}

// --- internal ---

/** The mark by which `disable` finds the line in a folder with another name than ours. */
const END = ";exit 0 #openhook-otel& exit 0";

const nodeWord = (path: string): string =>
  /^[A-Za-z]:\\[\w.\\~-]+$/.test(path) ? path.replaceAll("\\", "\\\\") : "node";

function programWords({ hookPath, localData, scope }: WindowsLine): string {
  const isUsual = win32.relative(win32.join(localData, "openhook-otel"), hookPath) === "hook.cjs";
  if (scope === "project" && isUsual) return script(`${LOCAL_DATA}+'/openhook-otel/hook.cjs'`);
  const path = hookPath.replaceAll("\\", "/");
  return /^[A-Za-z]:[\w./-]+$/.test(path) ? path : script(`'${encoded(path)}'`);
}

const LOCAL_DATA = "(process.env.LOCALAPPDATA||require('os').homedir()+'/AppData/Local')";

/** Node then has the same arguments as if the program were started. A missing program is no error. */
const script = (path: string): string =>
  `-e "process.argv.splice(1,0,${path});try{require(process.argv[1])}catch{}" --`;

const encoded = (path: string): string =>
  path.replaceAll(/[^\w ./:-]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

const decoded = (text: string): string =>
  text.replaceAll(/\\u([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
