import { existsSync } from "node:fs";
import { join } from "node:path";
import { posixProgramIn } from "#agents/shared/settings/project-line.ts";
import type { Context } from "#config/context.ts";
import type { Installer, SettingsText } from "#core/model/installer.ts";
import { suggest } from "#kit/suggest.ts";

// Containers and other machines can share an agent's settings with this one, and keep their hook program elsewhere

/**
 * An installer that treats our lines of other places like those of other programs: it neither replaces nor removes them. Such a line
 * does nothing here, because it starts a program only if that exists.
 */
export function installerHere(installer: Installer, context: Here): Installer {
  // In the shells of Windows a line for sh fails, so it cannot stay
  if (context.platform === "win32") return installer;
  const hidden = (files: readonly SettingsText[]) =>
    files.map((file) => withText(file, (text) => hideOtherPlaces(text, context)));
  const shown = (files: readonly SettingsText[]) => files.map((file) => withText(file, show));
  const { statusLine } = installer;
  return {
    ...installer,
    add: (files, registration) => shown(installer.add(hidden(files), registration)),
    remove: (files) => shown(installer.remove(hidden(files))),
    registered: (files) => installer.registered(hidden(files)),
    ...(statusLine !== undefined && { statusLine: (files: readonly SettingsText[]) => statusLine(hidden(files)) }),
  };
}

/** Says what happens to each registration of another place in an agent's settings, one line for each; before `enable`. */
export function otherPlacesText(source: string, files: readonly SettingsText[], context: Here): readonly string[] {
  if (context.platform === "win32") return [];
  const lines = files.flatMap(({ text }) => (text ?? "").match(LINE) ?? []);
  const programs = new Set(lines.flatMap((line) => programIn(line, context) ?? []));
  return [...programs].map((program) =>
    existsSync(program)
      ? `this replaces the registration of ${program}, another openhook-otel on this machine`
      : `also registered is ${program}, which is not on this machine: probably a container or another machine shares these settings. ` +
        `Its line stays and does nothing here; ${suggest(`disable ${source} --everywhere`)} removes it too`,
  );
}

/** A settings text in which lines of other places are not recognised as ours. */
export const hideOtherPlaces = (text: string, context: Here): string =>
  text.replace(LINE, (line) => {
    const program = programIn(line, context);
    return program === undefined || existsSync(program) ? line : line.replaceAll(NAME, HIDDEN);
  });

// --- internal ---

type Here = Pick<Context, "places" | "platform">;

/** A user's line up to the end of its text; a project's line, which is the same for everybody, is not one. */
const LINE =
  /(?:(?<!set h \\{1,2}'=;)\[ ! -x (~?[\w.:/-]+|'[^'\n]*') \]\|\|exec \1|&&eval 'set -- ~?[\w.:/-]+ )(?:\\.|[^"\\\n])*/g;
const NAME = "openhook-otel";
/** In the name while a line is hidden; no program writes characters for private use. */
const HIDDEN = "openhook\uE000otel";

const show = (text: string): string => text.replaceAll(HIDDEN, NAME);

/** The program that a line of ours starts; `undefined` if it is the one of this place. */
function programIn(line: string, { places }: Here): string | undefined {
  if (!line.includes(NAME)) return undefined;
  const written = posixProgramIn(line);
  const program = written?.startsWith("~/") === true ? join(places.home, written.slice(2)) : written;
  return program === places.hookPath ? undefined : program;
}

const withText = (file: SettingsText, change: (text: string) => string): SettingsText =>
  file.text === undefined ? file : { ...file, text: change(file.text) };
