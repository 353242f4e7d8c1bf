/** Where the hook program is, for one line. */
export interface WindowsLine {
  readonly hookPath: string;
  readonly nodePath: string;
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
export function windowsLine({ hookPath, nodePath }: WindowsLine, args: readonly string[]): string {
  const path = hookPath.replaceAll("\\", "/");
  const program = /^[A-Za-z]:[\w./-]+$/.test(path) ? path : script(`'${encoded(path)}'`);
  return [nodeWord(nodePath), program, ...args, END].join(" ");
}

/** The hook program as a project's settings name it, for every person who shares them. */
export type SharedProgram =
  /** Where `enable` installs it. */
  | { readonly in: "usual folder" }
  /** A moved one; `path` is below the home. */
  | { readonly in: "home"; readonly path: string }
  | { readonly in: "machine"; readonly path: string };

/** As `windowsLine`, without the end: what starts the program for every person who shares a project's settings. */
export function sharedWindowsCommand(program: SharedProgram, args: readonly string[]): string {
  return ["node", script(pathOf(program)), ...args].join(" ");
}

/** The hook program's full path in a line of ours; `undefined` if the line finds it by itself. */
export function programInLine(line: string): string | undefined {
  const written = decoded(/\(1,0,'([^']*hook\.cjs)'\);try/.exec(line)?.[1] ?? "");
  return written === "" ? /^\S+ (\S*[/\\]hook\.cjs) --/.exec(line)?.[1] : written;
}

/** The mark by which `disable` finds the line in a folder with another name than ours. */
export const END = ";exit 0 #openhook-otel& exit 0";

// --- internal ---

const nodeWord = (path: string): string =>
  /^[A-Za-z]:\\[\w.\\~-]+$/.test(path) ? path.replaceAll("\\", "\\\\") : "node";

function pathOf(program: SharedProgram): string {
  switch (program.in) {
    case "usual folder":
      return "(process.env.LOCALAPPDATA||require('os').homedir()+'/AppData/Local')+'/openhook-otel/hook.cjs'";
    case "home":
      return `require('os').homedir()+'/${encoded(program.path)}'`;
    case "machine":
      return `'${encoded(program.path)}'`;
  }
}

/** Node then has the same arguments as if the program were started. A missing program is no error. */
const script = (path: string): string =>
  `-e "process.argv.splice(1,0,${path});try{require(process.argv[1])}catch{}" --`;

const encoded = (path: string): string =>
  path.replaceAll(/[^\w ./:-]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

const decoded = (text: string): string =>
  text.replaceAll(/\\u([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
