// https://developers.openai.com/codex/enterprise/managed-configuration (requirements.toml), read 2026-11-27; run with 0.171.0
import type { HookCommand } from "#core/model/agent.ts";
import type { ManagedInstaller } from "#core/model/installer.ts";
import { SettingsError } from "../shared/settings/settings.ts";
import { fullPath, type Statement, tomlString } from "../shared/settings/toml.ts";
import { eolOf, statementsOf } from "../shared/settings/toml-statements.ts";

/**
 * Hooks in the administrator's requirements.toml. Codex runs them without asking the user for trust. They are a marked block at the
 * end of the file; requirements that an administrator wrote stay as they are.
 *
 * @param eventsFor the events to register, with their commands and time limits
 */
export const managedHooks = (
  eventsFor: (command: HookCommand) => readonly { readonly event: string; readonly entry: unknown }[],
): ManagedInstaller => ({
  path: requirementsPath,
  add(text, command, { platform, programFolder }) {
    const others = withoutBlock(text ?? "");
    if (statementsOf(others).some(isHooks)) {
      throw new SettingsError("it has hooks already", "merge ours by hand: enable --managed --print shows them", 1, 1);
    }
    const eol = eolOf(others);
    // Codex requires a folder that exists
    const key = platform === "win32" ? "windows_managed_dir" : "managed_dir";
    const block = [BEGIN, "[hooks]", `${key} = ${tomlString(programFolder)}`];
    for (const { event, entry } of eventsFor(command)) {
      block.push("", `[[hooks.${event}]]`, `[[hooks.${event}.hooks]]`);
      for (const [name, value] of Object.entries(entry as Readonly<Record<string, string | number>>)) {
        block.push(`${name} = ${typeof value === "number" ? value : tomlString(value)}`);
      }
    }
    const before = others === "" || others.endsWith("\n") ? others : `${others}${eol}`;
    return `${before}${[...block, END].join(eol)}${eol}`;
  },
  remove(text) {
    const others = withoutBlock(text);
    return others.trim() === "" ? undefined : others;
  },
  registered: registeredIn,
});

/** The administrator's file: on Windows from the same page and codex-rs/config/src of openai/codex, read 2026-11-27, not run. */
export const requirementsPath = (platform: NodeJS.Platform): string =>
  platform === "win32" ? "C:\\ProgramData\\OpenAI\\Codex\\requirements.toml" : "/etc/codex/requirements.toml";

/** The events in our block. */
export function registeredIn(text: string): readonly string[] {
  if (!text.includes(BEGIN) || !text.includes(END)) return [];
  const block = text.slice(text.indexOf(BEGIN), text.indexOf(END));
  return [...block.matchAll(/^\[\[hooks\.(\w+)\]\]/gm)].map(([, event = ""]) => event);
}

// --- internal ---

const BEGIN = "# begin openhook-otel; written by enable --managed, removed by disable --managed";
const END = "# end openhook-otel";

function withoutBlock(text: string): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 || end < begin) return text;
  return text.slice(0, begin) + text.slice(end + END.length).replace(/^\r?\n/, "");
}

/** Whether a statement is below `hooks`. */
const isHooks = (statement: Statement): boolean =>
  (statement.kind === "pair" ? fullPath(statement)[0] : statement.path[0]?.name) === "hooks";
