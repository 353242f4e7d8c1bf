import { delimiter, dirname } from "node:path";
import type { LoadedConfig } from "#config/load.ts";
import type { Places } from "#config/places.ts";
import { suggest } from "#kit/suggest.ts";
import { configuredFolders, isAcceptableRoot } from "./transcript-roots.ts";

/**
 * The command that allows the folders of these transcripts. It names the folders that are allowed already too, because the setting
 * replaces them.
 *
 * @returns `undefined` if no folder can be allowed: it is the home folder or above it
 */
export function allowCommand(
  { loaded, places }: { readonly loaded: LoadedConfig; readonly places: Pick<Places, "home"> },
  paths: readonly string[],
): string | undefined {
  const folders = paths.map((path) => dirname(path)).filter((folder) => isNameable(folder, places.home));
  if (folders.length === 0) return undefined;
  const all = [...new Set([...configuredFolders(loaded), ...folders])].join(delimiter);
  return suggest(`config set transcripts.folders ${word(all)}`);
}

// --- internal ---

const isNameable = (folder: string, home: string): boolean =>
  isAcceptableRoot(folder, home) && !folder.includes(delimiter) && !/[\p{Cc}\p{Cf}]/u.test(folder);

function word(text: string): string {
  if (/^[\w@%+=:,./\\-]+$/.test(text)) return text;
  return delimiter === ";" ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`;
}
