import { stat } from "node:fs/promises";
import type { Installer, InstallTarget } from "#core/model/installer.ts";
import { versionOf } from "../payload/version.ts";

/**
 * An agent is installed if its program is found, with its version, or if one of the files or folders that it creates exists.
 */
export const detectBy =
  (
    program: string,
    paths: (target: InstallTarget) => readonly string[] | Promise<readonly string[]>,
  ): Installer["detect"] =>
  async (target) => {
    const version = await versionOf(program, target.env);
    if (version !== undefined) return { present: true, version };
    const found = await Promise.all((await paths(target)).map(exists));
    return { present: found.includes(true) };
  };

// --- internal ---

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
