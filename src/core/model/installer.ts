/** Where to install. */
export interface InstallTarget {
  readonly home: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A settings file's current or new text; `undefined`: no file. */
export interface SettingsText {
  readonly path: string;
  readonly text: string | undefined;
}

/** What to register. */
export interface Registration {
  readonly scope: "user" | "project";
  readonly target: InstallTarget;
  /** Returns the command line of one registration. */
  readonly command: HookCommand;
  /** The agent's version, if it is known and matters; in user scope only. */
  readonly version: string | undefined;
  /** The command line of the agent's status line, if it is wanted. Absent: one of ours stays. */
  readonly statusLine?: string;
}

/** What keeps registered hooks from running, with the remedy. No content, no secrets. */
export interface Finding {
  readonly level: "broken" | "remark";
  readonly text: string;
}

/**
 * Adds our hook command to an agent's settings and removes it. `add`, `remove` and `registered` are pure: the texts of all files
 * of one scope in, the texts of the same files out, in the same order.
 */
export interface Installer {
  /** Scopes that the agent offers. */
  readonly scopes: readonly ("user" | "project")[];
  /** The files that hold a scope's registrations, in the order they must be written; never empty. */
  paths(scope: "user" | "project", target: InstallTarget): Promise<readonly string[]>;
  /**
   * @returns the files with exactly our registrations in them; the same texts if they are there already
   * @throws SettingsError if the agent itself could not read a file
   */
  add(files: readonly SettingsText[], registration: Registration): readonly SettingsText[];
  /** @returns the files without our registrations; a text of `undefined` for a file that contained nothing else */
  remove(files: readonly SettingsText[]): readonly SettingsText[];
  /** Native event names that the files register us for. Empty if they cannot be read. Never throws. */
  registered(files: readonly SettingsText[]): readonly string[];
  /** Whose status line the files have; `undefined`: none. Never throws. Absent: the agent has no status line that programs fill. */
  statusLine?(files: readonly SettingsText[]): "ours" | "other" | undefined;
  /** What keeps these registrations from running: trust, versions, shadowed files. Read-only. Empty if nothing does. */
  check?(files: readonly SettingsText[], target: InstallTarget): Promise<readonly Finding[]>;
  /** Absent: the agent documents no place for an administrator's hooks. */
  readonly managed?: ManagedInstaller;
  /** Whether the agent is installed, and its version if it can be found. Takes a few seconds at most. */
  detect(target: InstallTarget): Promise<{ readonly present: boolean; readonly version?: string }>;
}

/** The machine that the hooks are for, which some agents have to know. */
export interface ManagedMachine {
  readonly platform: NodeJS.Platform;
  /** Of the hook program. */
  readonly programFolder: string;
}

/** Hooks that an administrator registers for all users of a machine, where the agent documents a place for that. */
export interface ManagedInstaller {
  /** Absolute; fixed, because a variable could come from a repository. `undefined`: not known on this platform. */
  path(platform: NodeJS.Platform): string | undefined;
  /**
   * @param text the file as it is; `undefined` if there is none
   * @throws SettingsError if the agent itself could not read the file, or it has hooks of others in a form that cannot be merged
   */
  add(text: string | undefined, command: HookCommand, machine: ManagedMachine): string;
  /** @returns the file without our registrations; `undefined` if it contained nothing else */
  remove(text: string): string | undefined;
  /** Native names. Empty if the file cannot be read. Never throws. */
  registered(text: string): readonly string[];
}

/**
 * Returns the command line that an agent runs. `event`: for payloads that do not name it. `reply`: if stdout must not be
 * empty. `drain`: also start a drain; `if-waiting`: only if files are queued; `soon`: in some seconds, one for all events until then,
 * for agents whose events report no end. `system`: for settings with one line per system; without it, a project's line runs on all.
 * `shell`: the agent documents that it runs hooks in sh on Linux and macOS.
 */
export type HookCommand = (options: {
  readonly source: string;
  readonly event?: string;
  readonly reply?: string;
  readonly drain: "yes" | "if-waiting" | "soon" | "no";
  readonly system?: "posix" | "windows";
  readonly shell?: "sh";
}) => string;
