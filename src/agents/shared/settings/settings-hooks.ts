import type { HookCommand } from "#core/model/agent.ts";
import type { Installer } from "#core/model/installer.ts";
import type { Hook } from "../payload/hooks.ts";
import { type OneFile, oneFile } from "./one-file.ts";
import {
  addRegistrations,
  type Registration,
  registeredEvents,
  registrationsOf,
  removeRegistrations,
} from "./settings.ts";

/** Hooks in a settings file in Claude Code's format, of a user, a project and, for some agents, the machine. */
interface SettingsHooks extends Pick<OneFile, "path" | "check" | "detect"> {
  /** Whose table says which hooks are registered. */
  readonly adapter: { readonly source: string; readonly hooks: readonly Hook[] };
  /** The entry of a hook with its command line, in the agent's form. */
  entry(line: string, hook: Hook): Registration["entry"];
  /** Members of `hooks` that are no events. */
  readonly notEvents?: readonly string[];
  /** The machine's file, which an administrator writes. @default the agent has none */
  managedPath?(platform: NodeJS.Platform): string;
}

/** The `Installer` for an agent with such files. */
export function settingsHooks(hooks: SettingsHooks): Installer {
  const { adapter, entry, notEvents, managedPath, ...rest } = hooks;
  const add = (text: string | undefined, command: HookCommand): string =>
    addRegistrations(text, registrationsOf(adapter, command, entry), notEvents);
  const edits = { remove: (text: string) => removeRegistrations(text, notEvents), registered: registeredEvents };
  return oneFile({
    ...rest,
    ...edits,
    scopes: ["user", "project"],
    add: (text, { command }) => add(text, command),
    ...(managedPath !== undefined && { managed: { ...edits, path: managedPath, add } }),
  });
}
