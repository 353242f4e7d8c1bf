import type { Installer, InstallTarget, Registration, SettingsText } from "../../../model/agent.ts";

/** An installer whose registrations of one scope stand in one file. */
export interface OneFile extends Pick<Installer, "scopes" | "check" | "detect"> {
  path(scope: "user" | "project", target: InstallTarget): string;
  /** @throws SettingsError when the file is not what the agent itself could read */
  add(text: string | undefined, registration: Registration): string;
  /** @returns `undefined` when nothing but ours was in it */
  remove(text: string): string | undefined;
  registered(text: string): readonly string[];
}

/** Makes an `Installer` of it. */
export function oneFile({ path, add, remove, registered, ...rest }: OneFile): Installer {
  return {
    ...rest,
    paths: async (scope, target) => [path(scope, target)],
    add: (files, registration) => files.map((file) => ({ ...file, text: add(file.text, registration) })),
    remove: (files) =>
      files.map((file) => ({ ...file, text: file.text === undefined ? undefined : remove(file.text) })),
    registered: (files: readonly SettingsText[]) =>
      files.flatMap(({ text }) => (text === undefined ? [] : registered(text))),
  };
}
