import { asObject } from "../shared/payload/json.ts";

/**
 * Claude Code's tool names, which hooks under PascalCase names and hooks in Claude Code's settings receive. From payloads of
 * 1.0.102 that had the same calls under both names, 2026-11-21. Tools that are not listed have one name.
 */
const CLAUDE_NAMES: Readonly<Record<string, string>> = {
  view: "Read",
  bash: "Bash",
  powershell: "Bash",
  edit: "Edit",
  str_replace_editor: "Edit",
  apply_patch: "Edit",
  create: "Write",
  grep: "Grep",
  rg: "Grep",
  glob: "Glob",
  task: "Agent",
  web_fetch: "WebFetch",
  web_search: "WebSearch",
  ask_user: "AskUserQuestion",
  update_todo: "TodoWrite",
};

/** A tool's name in Claude Code, the same for both payload forms. */
export const claudeName = (name: string | undefined): string | undefined =>
  name !== undefined && Object.hasOwn(CLAUDE_NAMES, name) ? CLAUDE_NAMES[name] : name;

/** A tool's name in Copilot and its session file. If several tools have the same name in Claude Code, the input decides. */
export function ownName(name: string | undefined, input: unknown, cwd: string | undefined): string | undefined {
  switch (name) {
    case "Bash":
      return /^[A-Za-z]:[/\\]/.test(cwd ?? "") ? "powershell" : "bash";
    case "Edit":
      if (typeof input === "string") return "apply_patch";
      return asObject(input)?.["command"] === undefined ? "edit" : "str_replace_editor";
    default:
      return OWN_NAMES.get(name ?? "") ?? name;
  }
}

// --- internal ---

// Several tools have the same name in Claude Code: the first one in the list is used, because most models have it
const OWN_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(CLAUDE_NAMES)
    .map(([own, claude]) => [claude, own] as const)
    .reverse(),
);
