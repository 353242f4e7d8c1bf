import { isOurCommand, SettingsError } from "../shared/settings/settings.ts";
import { fullPath, type Header, type Pair, type Statement, TomlError, tomlString } from "../shared/settings/toml.ts";
import { eolOf, statementsOf } from "../shared/settings/toml-statements.ts";

/** One `[[hooks]]` table of `config.toml`. */
export interface Hook {
  readonly event: string | undefined;
  readonly command: string | undefined;
  readonly isOurs: boolean;
  readonly keys: readonly string[];
  /** Its place in the text, with its lines' breaks. */
  readonly start: number;
  readonly end: number;
}

/** A hook to register. */
export interface WantedHook {
  readonly event: string;
  readonly command: string;
}

/** All hooks of a text, in order. @throws SettingsError if the text is not TOML */
export function hooksIn(text: string): readonly Hook[] {
  const statements = statementsOf(text);
  return statements.flatMap((statement, at): Hook[] => {
    if (!isHooksHeader(statement)) return [];
    const pairs = pairsBelow(statements, at);
    const textIn = (name: string): string | undefined => {
      const value = pairs.find((pair) => fullPath(pair)[1] === name)?.value;
      return typeof value === "string" ? value : undefined;
    };
    const command = textIn("command");
    return [
      {
        event: textIn("event"),
        command,
        isOurs: isOurCommand(command ?? ""),
        keys: pairs.flatMap((pair) => fullPath(pair)[1] ?? []),
        start: statement.start,
        end: pairs.at(-1)?.end ?? statement.end,
      },
    ];
  });
}

/**
 * Replaces our hooks by these. They are appended below a comment, where nothing can split a table.
 *
 * @returns the same string if they are there already
 * @throws SettingsError if the text is not TOML, or its hooks are a list that tables cannot be added to
 */
export function addHooks(text: string, wanted: readonly WantedHook[]): string {
  const ours = hooksIn(text).filter(({ isOurs }) => isOurs);
  const isSame = ours.length === wanted.length && ours.every((hook, at) => isWanted(hook, wanted[at]));
  if (isSame) return text;
  const list = statementsOf(text).find((one): one is Pair => one.kind === "pair" && fullPath(one)[0] === "hooks");
  if (list !== undefined && list.header === undefined) throw listError(text, list);
  return appended(removeHooks(text) ?? "", wanted);
}

/** @returns the same string if none of ours is there; `undefined` if nothing is left */
export function removeHooks(text: string): string | undefined {
  const ours = hooksIn(text).filter(({ isOurs }) => isOurs);
  if (ours.length === 0) return text;
  // Without a line break at its end, the text had none before we appended to it
  const isOpen = ours.at(-1)?.end === text.length && !text.endsWith("\n");
  let left = text;
  for (const { start, end } of ours.toReversed()) {
    const [before, below] = [left.slice(0, start), left.slice(end)];
    const mark = MARK_BEFORE.exec(before)?.[0];
    const kept = mark === undefined ? before : before.slice(0, before.length - mark.length);
    left = `${mark !== undefined && isOpen && below === "" ? kept.replace(/\r?\n$/, "") : kept}${below}`;
  }
  return left === "" ? undefined : left;
}

// --- internal ---

const ADVICE = "write each hook as a table, [[hooks]], and run the command again";
const MARK = "# openhook-otel: its hooks";
/** The comment, with the empty line that we put before it. */
const MARK_BEFORE = new RegExp(`(?:(?<=^|\\n)\\r?\\n)?(?<=^|\\n|\\uFEFF)${MARK}\\r?\\n$`);
// The hook takes 3 ms. The default of 30 s is too long if a hook hangs
const TIMEOUT_S = 5;

const isHooksHeader = (statement: Statement): statement is Header =>
  statement.kind === "header" &&
  statement.isArray &&
  statement.path.length === 1 &&
  statement.path[0]?.name === "hooks";

function pairsBelow(statements: readonly Statement[], at: number): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const statement of statements.slice(at + 1)) {
    if (statement.kind === "header") break;
    pairs.push(statement);
  }
  return pairs;
}

const isWanted = (hook: Hook, wanted: WantedHook | undefined): boolean =>
  hook.event === wanted?.event && hook.command === wanted?.command && hook.keys.length === 3;

function appended(text: string, wanted: readonly WantedHook[]): string {
  const eol = eolOf(text);
  const lines = wanted.flatMap(({ event, command }) => [
    "[[hooks]]",
    `event = ${tomlString(event)}`,
    `command = ${tomlString(command)}`,
    `timeout = ${TIMEOUT_S}`,
  ]);
  const block = [MARK, ...lines].join(eol);
  if (text === "" || text === "\uFEFF") return `${text}${block}${eol}`;
  // If the text has no line break at its end, add none
  return text.endsWith("\n") ? `${text}${eol}${block}${eol}` : `${text}${eol}${eol}${block}`;
}

function listError(text: string, { valueStart }: Pair): SettingsError {
  const at = new TomlError("", text, valueStart);
  return new SettingsError('"hooks" is a list in one value, which nothing can be added to', ADVICE, at.line, at.column);
}
