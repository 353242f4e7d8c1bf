import { posix } from "node:path";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import { asString } from "../shared/payload/json.ts";

/**
 * An absolute path, with the variables that the intake records expanded.
 *
 * @returns `undefined` if there is none, for null (a session without a file) and if the path stays relative
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

/** Accepts POSIX and Windows paths: payloads are read on the machine that wrote them, tests run on any. */
export const isAbsolute = (path: string): boolean => posix.isAbsolute(path) || /^(?:[A-Za-z]:[/\\]|\\\\)/.test(path);
