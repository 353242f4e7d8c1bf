import { join } from "node:path";

/**
 * The hook program for all users of a machine, its configuration, and the copies of this program that it starts. Only root can write it;
 * Homebrew gives `/usr/local` of a Mac to a user.
 */
export const managedFolderOf = (platform: NodeJS.Platform): string =>
  platform === "darwin" ? "/Library/Application Support/openhook-otel" : "/usr/local/lib/openhook-otel";

export const managedHookOf = (platform: NodeJS.Platform): string => join(managedFolderOf(platform), "hook");

export const managedConfPathOf = (platform: NodeJS.Platform): string => join(managedFolderOf(platform), "hook.conf");

/**
 * The configuration of the hook program: each user's own state. What a user's own `enable` recorded counts; otherwise the usual places,
 * without the variable that a repository could set.
 */
export const managedConf = (nodePath: string, program: string): string =>
  [
    "# Written by enable --managed: each user's hooks use that user's own state",
    `[ ! -r "\${HOME-}/.local/share/openhook-otel/hook.conf" ] || command . "\${HOME-}/.local/share/openhook-otel/hook.conf"`,
    '[ -n "$state" ] || unset OPENHOOK_OTEL_HOME',
    `node=${quoted(nodePath)}`,
    `program=${quoted(program)}`,
    "",
  ].join("\n");

// --- internal ---

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
