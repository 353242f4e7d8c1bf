import type { Context } from "#config/context.ts";
import { unifiedDiff } from "#kit/text/diff.ts";
import { VERSION } from "#kit/version.ts";
import { folderOf, programIn } from "./installed-copy.ts";
import { type ManagedFile, withHooks } from "./managed.ts";
import { managedConf, managedConfPathOf, managedFolderOf, managedHookOf, pathsOf } from "./managed-places.ts";

/** What a machine without such files gets. Comments come first, so that every line below a path belongs to that file. */
export function managedPrint(files: readonly ManagedFile[], hookSource: string, context: Context): string {
  const { platform, nodePath, programPath } = context;
  const program = programIn(pathsOf(platform).join(managedFolderOf(platform), VERSION));
  const isWindows = platform === "win32";
  const lines = [
    `# ${managedHookOf(platform)}: a copy of ${hookSource}${isWindows ? "" : "; mode 755"}`,
    `# ${folderOf(program)}: a copy of this program (${folderOf(programPath)}); only enable --managed makes it`,
    isWindows
      ? "# The files below: only administrators can write them, all users can read them"
      : "# The files below: mode 644; all belong to root",
    "",
    `==> ${managedConfPathOf(platform)}`,
    managedConf(nodePath, program, platform),
    ...files.flatMap((file) => [`==> ${file.path}`, withHooks({ ...file, text: undefined }, context).trimEnd(), ""]),
  ];
  return `${lines.join("\n")}\n`;
}

/** What would change, for a dry run. */
export const managedDiff = (
  changes: readonly { readonly file: ManagedFile; readonly text: string | undefined }[],
): string =>
  changes
    .map(({ file, text }) =>
      text === file.text
        ? `${file.agent.title}: already enabled for all users in ${file.path}\n`
        : unifiedDiff(file, { path: file.path, text }),
    )
    .join("");
