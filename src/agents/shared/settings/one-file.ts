import type { Installer, InstallTarget, Registration, SettingsText } from "#core/model/installer.ts";

/** An installer with one file per scope. */
export interface OneFile extends Pick<Installer, "scopes" | "check" | "detect" | "managed" | "statusLine"> {
  path(scope: "user" | "project", target: InstallTarget): string;
  /** @throws SettingsError if the agent itself could not read the file */
  add(text: string | undefined, registration: Registration): string;
  /** @returns `undefined` if the file contained only our entries */
  remove(text: string): string | undefined;
  registered(text: string): readonly string[];
}

/** The `Installer` for an agent with one file per scope. */
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
