import { posix, win32 } from "node:path";
import { machineRoot } from "#config/places.ts";
import type { ManagedMachine } from "#core/model/installer.ts";

/**
 * The hook program for all users of a machine, its configuration, and the copies of this program that it starts. Only root can write it,
 * on Windows only administrators. Homebrew gives `/usr/local` of a Mac to a user.
 */
export const managedFolderOf = (platform: NodeJS.Platform): string =>
  platform === "darwin" || platform === "win32" ? machineRoot(platform) : "/usr/local/lib/openhook-otel";

export const managedHookOf = (platform: NodeJS.Platform): string =>
  pathsOf(platform).join(managedFolderOf(platform), platform === "win32" ? "hook.cjs" : "hook");

export const managedConfPathOf = (platform: NodeJS.Platform): string =>
  pathsOf(platform).join(managedFolderOf(platform), "hook.conf");

export const managedMachine = (platform: NodeJS.Platform): ManagedMachine => ({
  platform,
  programFolder: managedFolderOf(platform),
});

/** Paths of a system that may not be this one. */
export const pathsOf = (platform: NodeJS.Platform): typeof posix => (platform === "win32" ? win32 : posix);

/**
 * The configuration of the hook program: each user's own state. What a user's own `enable` recorded counts; otherwise the usual places,
 * without the variable that a repository could set.
 */
export const managedConf = (nodePath: string, program: string, platform: NodeJS.Platform): string =>
  [
    "# Written by enable --managed: each user's hooks use that user's own state",
    ...(platform === "win32" ? ["users='all'"] : POSIX_STATE),
    `node=${quoted(nodePath)}`,
    `program=${quoted(program)}`,
    "",
  ].join("\n");

// --- internal ---

/** hook.cjs does the same for `users='all'`. */
const POSIX_STATE = [
  `[ ! -f "\${HOME-}/.local/share/openhook-otel/hook.conf" ] || command . "\${HOME-}/.local/share/openhook-otel/hook.conf"`,
  '[ -n "$state" ] || unset OPENHOOK_OTEL_HOME',
];

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
