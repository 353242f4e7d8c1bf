import { asObject } from "../shared/payload/json.ts";

/**
 * Hooks registered under PascalCase names, and those of Claude Code's settings, get Claude Code's tool names. Read from
 * payloads of 1.0.102 that told the same calls under both names, 2026-11-21. Tools that are not listed keep their name.
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

/** The name under which both forms of a payload tell the same tool. */
export const claudeName = (name: string | undefined): string | undefined =>
  name !== undefined && Object.hasOwn(CLAUDE_NAMES, name) ? CLAUDE_NAMES[name] : name;

/** Copilot's own name of a tool, by which the session file knows it. Where several share one of Claude's, the input tells. */
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

// The first of several is the one that most models are given
const OWN_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(CLAUDE_NAMES)
    .map(([own, claude]) => [claude, own] as const)
    .reverse(),
);
