import { type BackupRecord, holdersOf } from "#config/backup.ts";
import { suggest } from "#kit/suggest.ts";
import { listed } from "./settings-edit.ts";
import { RECORDED_AS } from "./wrappers.ts";

/** After the last user-scope registration: what still starts the hook program, which matters before an uninstall. */
export function remainingText(left: readonly BackupRecord[]): string {
  const holders = left.filter(({ agent }) => agent !== RECORDED_AS).flatMap(holdersOf);
  if (left.length === 0 || holders.some(({ scope }) => scope === "user")) return "";
  const projects = new Set(holders.map(({ project, files }) => project ?? listed(files)));
  const isWrapping = left.some(({ agent }) => agent === RECORDED_AS);
  const users = [
    ...[...projects].map((project) => `the settings of ${project} (there: ${suggest("disable --scope project")})`),
    ...(isWrapping ? [`wrapped programs (${suggest("unwrap")})`] : []),
  ];
  return `The hook program stays for ${users.join(", and for ")}.\n`;
}
