import type { HookCommand } from "#core/model/agent.ts";
import type { Installer } from "#core/model/installer.ts";
import { type OneFile, oneFile } from "./one-file.ts";
import { addRegistrations, type Registration, registeredEvents, removeRegistrations } from "./settings.ts";

/** Hooks in a settings file in Claude Code's format, of a user, a project and the machine. */
export interface SettingsHooks extends Pick<OneFile, "path" | "check" | "detect"> {
  registrations(command: HookCommand): readonly Registration[];
  /** Members of `hooks` that are no events. */
  readonly notEvents?: readonly string[];
  /** The machine's file, which an administrator writes. */
  managedPath(platform: NodeJS.Platform): string;
}

/** The `Installer` for an agent with such files. */
export function settingsHooks({ registrations, notEvents, managedPath, ...rest }: SettingsHooks): Installer {
  const add = (text: string | undefined, command: HookCommand): string =>
    addRegistrations(text, registrations(command), notEvents);
  const edits = { remove: (text: string) => removeRegistrations(text, notEvents), registered: registeredEvents };
  return oneFile({
    ...rest,
    ...edits,
    scopes: ["user", "project"],
    add: (text, { command }) => add(text, command),
    managed: { ...edits, path: managedPath, add },
  });
}
