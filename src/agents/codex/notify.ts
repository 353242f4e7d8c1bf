import { isOurCommand, SettingsError } from "../shared/settings/settings.ts";
import { fullPath, type Pair, type TomlValue, tomlString } from "../shared/settings/toml.ts";
import { eolOf, statementsOf } from "../shared/settings/toml-statements.ts";

/** `notify` in `config.toml`: one program that receives a JSON argument after each turn. Versions without hooks have only this. */
type Notify = "ours" | "foreign" | "none";

/** Who registered the program for notifications. @throws SettingsError if the text is not TOML */
export function notifyOf(text: string | undefined): Notify {
  const pair = find(text ?? "");
  if (pair === undefined) return "none";
  return isOurs(pair.value) ? "ours" : "foreign";
}

/**
 * Registers our hook for notifications, unless another program is registered: there can be only one.
 *
 * @param line the hook's command line for a POSIX shell
 */
export function addNotify(text: string | undefined, line: string): string | undefined {
  const before = text ?? "";
  const pair = find(before);
  const value = `[${programOf(line).map(tomlString).join(", ")}]`;
  if (pair !== undefined) {
    if (!isOurs(pair.value)) return text;
    return before.slice(0, pair.valueStart) + value + before.slice(pair.valueEnd);
  }
  // It must precede all tables: after a header it would belong to that table
  const top = statementsOf(before).findLast((one): one is Pair => one.kind === "pair" && one.header === undefined);
  const at = top?.end ?? (before.startsWith("\uFEFF") ? 1 : 0);
  const eol = eolOf(before);
  const entry = `notify = ${value} ${MARK}`;
  const isOpen = at > 0 && at === before.length && !before.endsWith("\n") && top !== undefined;
  return before.slice(0, at) + (isOpen ? `${eol}${entry}` : `${entry}${eol}`) + before.slice(at);
}

/** @returns `undefined` if nothing is left */
export function removeNotify(text: string): string | undefined {
  const pair = find(text);
  if (pair === undefined || !isOurs(pair.value)) return text;
  const isOpen = pair.end === text.length && !text.endsWith("\n");
  const before = text.slice(0, pair.start);
  const left = (isOpen ? before.replace(/\r?\n$/, "") : before) + text.slice(pair.end);
  return left === "" ? undefined : left;
}

// --- internal ---

const MARK = "# openhook-otel";

function find(text: string): Pair | undefined {
  return statementsOf(text).find(
    (one): one is Pair => one.kind === "pair" && fullPath(one).length === 1 && fullPath(one)[0] === "notify",
  );
}

const isOurs = (value: TomlValue): boolean =>
  Array.isArray(value) && value.some((word) => typeof word === "string" && isOurCommand(word.replace(/\n\}$/, "")));

/** Passes the payload, an argument, to the hook's stdin. The line may end with a comment, so a line break follows it. */
function programOf(line: string): readonly string[] {
  if (line.includes("hook.cjs")) {
    throw new SettingsError("this version can only be notified through a POSIX shell", "install a newer one", 1, 1);
  }
  return ["/bin/sh", "-c", `printf %s "$1"|{ ${line}\n}`, "openhook-otel"];
}
