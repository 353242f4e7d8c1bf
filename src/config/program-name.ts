import { realpathSync } from "node:fs";
import { delimiter, isAbsolute, join, relative } from "node:path";

/** What the name depends on. */
interface ProgramStart {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** The current directory; `undefined` if it was deleted. */
  readonly cwd: string | undefined;
  /** The Node binary and the program it runs, absolute. */
  readonly nodePath: string;
  readonly programPath: string;
}

/**
 * How to start this program from the user's shell: `openhook-otel` if the first program of that name in PATH is this one,
 * `npx openhook-otel` if npx started it, otherwise Node and the program's path, relative where that is shorter, quoted where the shell needs it.
 *
 * @throws never
 */
export function programName(start: ProgramStart): string {
  const { cwd, nodePath, programPath } = start;
  // In PATH only while npx runs it
  if (/[\\/]_npx[\\/]/.test(programPath)) return "npx openhook-otel";
  const program = realPath(programPath);
  if (program !== undefined && firstInPath("openhook-otel", start) === program) return "openhook-otel";
  const realNode = realPath(nodePath);
  const node = realNode !== undefined && firstInPath("node", start) === realNode ? "node" : quoted(nodePath, start);
  const below = cwd === undefined ? programPath : relative(cwd, programPath);
  return `${node} ${quoted(below.startsWith("..") || isAbsolute(below) ? programPath : below, start)}`;
}

// --- internal ---

/** The real path of the first program of that name; npm installs scripts that lead to the program on Windows. */
function firstInPath(name: string, { env, platform }: ProgramStart): string | undefined {
  const names = platform === "win32" ? [`${name}.exe`, `${name}.cmd`] : [name];
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of folders) {
    for (const file of names) {
      const real = realPath(join(folder, file));
      if (real !== undefined) return real;
    }
  }
  return undefined;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** In the quotes of the platform's usual shell, if the path needs any. */
function quoted(path: string, { platform }: ProgramStart): string {
  if (platform === "win32") return /^[\w.:\\/-]+$/.test(path) ? path : `"${path}"`;
  return /^[\w./+@%=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
