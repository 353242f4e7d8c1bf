import { posix } from "node:path";
import type { IntakeFacts } from "../../model/agent.ts";
import { asString } from "../shared/payload/json.ts";

/**
 * An absolute path, with the variables expanded that the intake keeps.
 *
 * @returns `undefined` for none, for null (a session without a file) and for what stays relative
 */
export function pathOf(value: unknown, { env }: IntakeFacts): string | undefined {
  const path = asString(value);
  if (path === undefined) return undefined;
  const home = env["HOME"];
  const codexHome = env["CODEX_HOME"] ?? (home === undefined ? undefined : posix.join(home, ".codex"));
  const expanded = path
    .replace(/^\$(?:CODEX_HOME|\{CODEX_HOME\})(?=[/\\]|$)/, () => codexHome ?? "$CODEX_HOME")
    .replace(/^(?:\$HOME|\$\{HOME\}|~)(?=[/\\]|$)/, () => home ?? "$HOME");
  return isAbsolute(expanded) ? expanded : undefined;
}

/** In the form of either system: payloads are read on the machine they were written on, tests on any. */
export const isAbsolute = (path: string): boolean => posix.isAbsolute(path) || /^(?:[A-Za-z]:[/\\]|\\\\)/.test(path);
