import { asObject, asString } from "../payload/json.ts";

/**
 * The skill that a tool call loads. The argument is the model's text, so it is used only if it has the form of a name.
 *
 * @param tool the call's tool, by the name that the agent's events and entries have
 * @param input its arguments
 * @returns `undefined` for every other tool, and if no argument is a name
 */
export function skillOf(tool: string | undefined, input: unknown): string | undefined {
  if (tool === undefined || !LOADERS.has(tool)) return undefined;
  const given = asObject(input);
  for (const member of MEMBERS) {
    const name = NAME.exec(asString(given?.[member]) ?? "")?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Whether calls of a tool load skills. */
export const isSkillTool = (tool: string): boolean => LOADERS.has(tool);

// --- internal ---

// Claude Code, Droid, Kimi; Qwen Code, OpenCode, Kilo, Copilot, Vibe, Grok; Gemini CLI; Goose; Cline and its older versions; OpenHands
const LOADERS: ReadonlySet<string> = new Set(
  "Skill skill activate_skill load_skill skills use_skill invoke_skill".split(" "),
);
/** Claude Code wrote `command` before it wrote `skill`. */
const MEMBERS = ["skill", "name", "skill_name", "command"];
/** Skills of plugins are `<plugin>:<skill>`, and the slash of a command is no part of a name. */
const NAME = /^\/?([\p{L}\p{N}_][\p{L}\p{N}_.:@-]{0,127})$/u;
