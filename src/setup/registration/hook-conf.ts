import { readFile } from "node:fs/promises";

/** What the installed hook starts drains with. `null`: the file or the line is missing or damaged. */
export interface HookConf {
  readonly node: string | null;
  readonly program: string | null;
}

/** Reads what `enable` wrote for a POSIX shell. @throws never */
export async function readHookConf(path: string): Promise<HookConf> {
  const conf = await readFile(path, "utf8").catch(() => "");
  return { node: valueIn(conf, "node"), program: valueIn(conf, "program") };
}

// --- internal ---

function valueIn(conf: string, name: string): string | null {
  const found = new RegExp(`^${name}='((?:[^']|'\\\\'')*)'$`, "m").exec(conf)?.[1];
  return found === undefined ? null : found.replaceAll("'\\''", "'");
}
