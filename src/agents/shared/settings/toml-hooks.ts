import { isOurCommand, SettingsError } from "./settings.ts";
import { fullPath, type Header, type Pair, pairsBelow, type Statement, TomlError, tomlString } from "./toml.ts";
import { eolOf, statementsOf } from "./toml-statements.ts";

// Hooks as `[[hooks]]` tables in a TOML file

/** One `[[hooks]]` table. */
interface TomlHook {
  /** Its members with texts. */
  readonly texts: Readonly<Record<string, string>>;
  readonly isOurs: boolean;
  readonly keys: readonly string[];
  /** Its place in the text, with its lines' breaks. */
  readonly start: number;
  readonly end: number;
}

/** Members of a hook to register, in order; `command` is the hook's command. */
export type WantedTomlHook = Readonly<Record<string, string | number>>;

/** All hooks of a text, in order. @throws SettingsError if the text is not TOML */
function hooksIn(text: string): readonly TomlHook[] {
  const statements = statementsOf(text);
  return statements.flatMap((statement, at): TomlHook[] => {
    if (!isHooksHeader(statement)) return [];
    const pairs = pairsBelow(statements, at);
    const texts = Object.fromEntries(
      pairs.flatMap((pair) => {
        const name = fullPath(pair)[1];
        return name !== undefined && typeof pair.value === "string" ? [[name, pair.value] as const] : [];
      }),
    );
    return [
      {
        texts,
        isOurs: isOurCommand(texts["command"] ?? ""),
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
export function addHooks(text: string, wanted: readonly WantedTomlHook[]): string {
  const ours = hooksIn(text).filter(({ isOurs }) => isOurs);
  const isSame = ours.length === wanted.length && ours.every((hook, at) => isWanted(hook, wanted[at] ?? {}));
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

/** The hooks of a text that may be no TOML; then none. */
export function readableHooks(text: string | undefined): readonly TomlHook[] {
  try {
    return text === undefined ? [] : hooksIn(text);
  } catch (error) {
    if (error instanceof SettingsError) return [];
    throw error;
  }
}

// --- internal ---

const ADVICE = "write each hook as a table, [[hooks]], and run the command again";
const MARK = "# openhook-otel: its hooks";
/** The comment, with the empty line that we put before it. */
const MARK_BEFORE = new RegExp(`(?:(?<=^|\\n)\\r?\\n)?(?<=^|\\n|\\uFEFF)${MARK}\\r?\\n$`);

const isHooksHeader = (statement: Statement): statement is Header =>
  statement.kind === "header" &&
  statement.isArray &&
  statement.path.length === 1 &&
  statement.path[0]?.name === "hooks";

const isWanted = ({ texts, keys }: TomlHook, wanted: WantedTomlHook): boolean =>
  keys.length === Object.keys(wanted).length &&
  Object.entries(wanted).every(([name, value]) => typeof value !== "string" || texts[name] === value);

function appended(text: string, wanted: readonly WantedTomlHook[]): string {
  const eol = eolOf(text);
  const lines = wanted.flatMap((hook) => [
    "[[hooks]]",
    ...Object.entries(hook).map(
      ([name, value]) => `${name} = ${typeof value === "string" ? tomlString(value) : value}`,
    ),
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
