import type { HookRun } from "#core/model/hook-run.ts";
import { isOurCommand } from "../settings/settings.ts";

/**
 * Which hook a command line is: the program's file name, and of an interpreter also the script's: `block.sh`, `node check.js`. All
 * other words are left out, because they can be anything. Two programs of one name are one hook.
 */
export function hookOf(command: unknown): Pick<HookRun, "hook" | "isOurs"> {
  if (typeof command !== "string") return {};
  if (isOurCommand(command)) return { hook: OUR_HOOK, isOurs: true };
  return { hook: programOf(command.slice(0, MAX_SEARCHED)), isOurs: false };
}

/** Our hook's name, whatever its command line is. */
export const OUR_HOOK = "openhook-otel";

// --- internal ---

const MAX_SEARCHED = 4096;
const MAX_NAME = 60;

/** Programs that are named together with what they run. */
const INTERPRETERS = new Set(
  `bash bun bunx cmd deno dotnet env fish java node npm npx perl php pnpm pnpx powershell pwsh py python python3 ruby sh tsx
  uv uvx yarn zsh`.split(/\s+/),
);

function programOf(command: string): string | undefined {
  const words = wordsOf(command);
  const at = words.findIndex((word) => !/^\w+=/.test(word));
  const program = nameOf(words[at]);
  if (program === undefined || !INTERPRETERS.has(program.replace(/\.exe$/i, ""))) return program;
  // With an option before it, it can be the option's value, or a program's text
  const script = nameOf(words[at + 1]);
  return script === undefined ? program : `${program} ${script}`.slice(0, MAX_NAME);
}

/** The words of the first simple command; quotes are taken off, and a backslash stays, because Windows' paths have some. */
function wordsOf(command: string): readonly string[] {
  const found: string[] = [];
  for (const [word] of command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s;&|<>"'])+|[;&|<>]/g)) {
    if (/^[;&|<>]$/.test(word)) {
      if (found.length > 0) break;
      continue;
    }
    found.push(word.replaceAll(/["']/g, ""));
  }
  return found;
}

/** The last part of a path that looks like the name of a file. */
function nameOf(word: string | undefined): string | undefined {
  const name = word?.replace(/^.*[/\\]/, "");
  return name !== undefined && name.length <= MAX_NAME && /^[\w@.+][\w@.+-]*$/.test(name) ? name : undefined;
}
