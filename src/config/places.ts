import { homedir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where files are on this machine. Absolute paths; nothing is created. */
export interface Places {
  readonly home: string;
  /** Everything the program writes at run time; moved as a whole by `OPENHOOK_OTEL_HOME`. Mode 0700. */
  readonly stateDir: string;
  /** One file per event, written by the intake. */
  readonly inboxDir: string;
  /** Inbox files that a drain has claimed and not yet committed. */
  readonly claimedDir: string;
  /** Payloads that no card recognises, each with a reason beside it. */
  readonly quarantineDir: string;
  readonly storePath: string;
  /** Settings files as they were before `enable` changed them. */
  readonly backupDir: string;
  readonly configPath: string;
  /** The administrator's settings for all users; only root can write it. */
  readonly machineConfigPath: string;
  /** The program agents start. On every POSIX system at the same place below the home, so that a project's settings
   * can be shared between machines. */
  readonly hookPath: string;
  /** What the hook program must know about this installation; written by `enable`. */
  readonly hookConfPath: string;
  /** Has one folder per installed version of this program, which hooks and drains run. */
  readonly copiesDir: string;
}

interface PlacesInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

/**
 * @param input environment, home directory and platform
 * @see XDG Base Directory Specification 0.8: a relative path in these variables is ignored
 */
export function placesOf({ env, home, platform }: PlacesInput): Places {
  const moved = absolute(env["OPENHOOK_OTEL_HOME"]);
  const stateDir = moved ?? join(stateRoot({ env, home, platform }), "openhook-otel");
  const hookDir = moved ?? (platform === "win32" ? stateDir : join(home, ".local", "share", "openhook-otel"));
  return {
    home,
    stateDir,
    inboxDir: join(stateDir, "inbox"),
    claimedDir: join(stateDir, "claimed"),
    quarantineDir: join(stateDir, "quarantine"),
    storePath: join(stateDir, "store.db"),
    backupDir: join(stateDir, "backup"),
    configPath: join(configRoot({ env, home, platform }), "openhook-otel", "config.json"),
    machineConfigPath: join(machineRoot(platform), "config.json"),
    hookPath: join(hookDir, platform === "win32" ? "hook.cjs" : "hook"),
    hookConfPath: join(hookDir, "hook.conf"),
    copiesDir: moved ?? join(dataRoot({ env, home, platform }), "openhook-otel"),
  };
}

/**
 * The user's home directory. A container's user may have neither `HOME` nor an entry in the user database: then it is `/`, as in container
 * runtimes, and `OPENHOOK_OTEL_HOME` names a usable folder.
 */
export function homeDirectory(): string {
  for (const homeOf of [homedir, () => userInfo().homedir]) {
    try {
      if (isAbsolute(homeOf())) return homeOf();
    } catch {
      // This user id has no entry
    }
  }
  return "/";
}

/**
 * The folder for what an administrator sets up for all users. On Windows not ProgramData, where every user can create folders, but where
 * only administrators can write; fixed, because a variable could come from a repository.
 */
export const machineRoot = (platform: NodeJS.Platform): string =>
  platform === "win32"
    ? "C:\\Program Files\\openhook-otel"
    : platform === "darwin"
      ? "/Library/Application Support/openhook-otel"
      : "/etc/openhook-otel";

// --- internal ---

function stateRoot({ env, home, platform }: PlacesInput): string {
  if (platform === "win32") return env["LOCALAPPDATA"] ?? join(home, "AppData", "Local");
  const xdg = absolute(env["XDG_STATE_HOME"]);
  if (xdg !== undefined) return xdg;
  return platform === "darwin" ? join(home, "Library", "Application Support") : join(home, ".local", "state");
}

function dataRoot({ env, home, platform }: PlacesInput): string {
  if (platform === "win32") return stateRoot({ env, home, platform });
  const xdg = absolute(env["XDG_DATA_HOME"]);
  if (xdg !== undefined) return xdg;
  return platform === "darwin" ? join(home, "Library", "Application Support") : join(home, ".local", "share");
}

function configRoot({ env, home, platform }: PlacesInput): string {
  if (platform === "win32") return env["APPDATA"] ?? join(home, "AppData", "Roaming");
  const xdg = absolute(env["XDG_CONFIG_HOME"]);
  if (xdg !== undefined) return xdg;
  return platform === "darwin" ? join(home, "Library", "Application Support") : join(home, ".config");
}

/** Drive letters count as absolute, so that a Windows home can be moved too. */
const absolute = (path: string | undefined): string | undefined =>
  path !== undefined && (path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path)) ? path : undefined;
