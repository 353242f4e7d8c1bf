import type { HookCommand } from "./hook-command.ts";

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
