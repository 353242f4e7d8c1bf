import { SettingsError } from "../shared/settings/settings.ts";
import {
  fullPath,
  type Header,
  isTable,
  type Key,
  type Pair,
  pairsBelow,
  type Statement,
  TomlError,
  type TomlValue,
  tomlString,
} from "../shared/settings/toml.ts";
import { eolOf, statementsOf } from "../shared/settings/toml-statements.ts";

/** The entry of one hook in `config.toml`. */
interface HookState {
  readonly trustedHash?: string;
  readonly enabled?: boolean;
}

/** Changes to the states of hooks, by key. Other hooks keep their state. */
interface StateChanges {
  /** Key → hash to trust. */
  readonly trust: ReadonlyMap<string, string>;
  readonly forget: ReadonlySet<string>;
  /** Old key → new key, for hooks whose position in the file changed. */
  readonly move: ReadonlyMap<string, string>;
}

/** States of all hooks. @throws SettingsError if the text is not TOML */
export function hookStates(text: string): ReadonlyMap<string, HookState> {
  const states = new Map<string, HookState>();
  for (const { path, value } of leaves(statementsOf(text))) {
    const [hooks, state, key, field] = path;
    if (hooks !== "hooks" || state !== "state" || key === undefined || path.length !== 4) continue;
    const known = states.get(key) ?? {};
    if (field === "trusted_hash" && typeof value === "string") states.set(key, { ...known, trustedHash: value });
    else if (field === "enabled" && typeof value === "boolean") states.set(key, { ...known, enabled: value });
    else states.set(key, known);
  }
  return states;
}

/**
 * Changes states of hooks and nothing else. New states are appended, below a comment that marks them as ours.
 *
 * @returns the same string if nothing had to change; `undefined` if nothing is left
 * @throws SettingsError if the text is not TOML, or `hooks` is an inline table, which cannot be extended
 */
export function changeStates(text: string, { trust, forget, move }: StateChanges): string | undefined {
  const statements = statementsOf(text);
  const units = stateBlocks(statements);
  const edits = units.flatMap((unit): Edit[] => {
    const target = move.get(unit.key);
    if (target !== undefined) return [{ ...unit.name, text: tomlString(target) }];
    if (forget.has(unit.key)) return [{ start: unit.start, end: unit.end, text: "" }];
    return [];
  });
  const missing: (readonly [string, string])[] = [];
  for (const [key, hash] of trust) {
    // Dotted pairs of one hook can be on several lines
    const [first, ...rest] = units.filter((unit) => unit.key === key);
    if (first === undefined) missing.push([key, hash]);
    else edits.push(...trustEdits({ ...first, pairs: [first, ...rest].flatMap(({ pairs }) => pairs) }, hash, text));
  }
  const inlineTable = inlineOf(statements);
  if (inlineTable !== undefined) {
    const states = hookStates(text);
    const isThere = [...forget, ...move.keys()].some((key) => states.has(key));
    if (isThere || missing.some(([key, hash]) => states.get(key)?.trustedHash !== hash))
      throw inlineError(text, inlineTable);
    return text;
  }
  const isOpen = edits.some(({ end }) => end === text.length) && !text.endsWith("\n");
  const edited = edits.length === 0 ? text : withoutEmptyMarks(applied(text, edits), isOpen);
  const result = missing.length === 0 ? edited : appended(edited, missing);
  return result === "" && text !== "" ? undefined : result;
}

/** Keys of the states below a comment that marks them as ours. @throws SettingsError if the text is not TOML */
export function markedKeys(text: string): readonly string[] {
  if (!text.includes(MARK)) return [];
  const keys: string[] = [];
  let end = -1;
  for (const unit of stateBlocks(statementsOf(text))) {
    const isMarked = text.slice(0, unit.start).trimEnd().endsWith(MARK) || unit.start === end;
    if (isMarked) keys.push(unit.key);
    end = isMarked ? unit.end : -1;
  }
  return keys;
}

// --- internal ---

const MARK = "# openhook-otel: its hooks, trusted when they were enabled";

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Adjacent statements about one hook. */
interface StateBlock {
  readonly key: string;
  readonly start: number;
  readonly end: number;
  /** Position of the key. */
  readonly name: { readonly start: number; readonly end: number };
  readonly header?: Header;
  readonly pairs: readonly Pair[];
}

function* leaves(statements: readonly Statement[]): Generator<{ path: readonly string[]; value: TomlValue }> {
  for (const statement of statements) {
    if (statement.kind === "pair") yield* leavesOf(fullPath(statement), statement.value);
    else yield { path: [...statement.path.map(({ name }) => name), ""], value: null };
  }
}

function* leavesOf(
  path: readonly string[],
  value: TomlValue,
): Generator<{ path: readonly string[]; value: TomlValue }> {
  if (!isTable(value)) yield { path, value };
  else for (const [name, inner] of Object.entries(value)) yield* leavesOf([...path, name], inner);
}

function stateBlocks(statements: readonly Statement[]): readonly StateBlock[] {
  const units: StateBlock[] = [];
  for (const [at, statement] of statements.entries()) {
    const above: readonly Key[] = statement.kind === "pair" ? (statement.header?.path ?? []) : [];
    const [hooks, state, key] = [...above, ...statement.path];
    // Pairs below a separate header are included with that header
    if (hooks?.name !== "hooks" || state?.name !== "state" || key === undefined || above.length >= 3) continue;
    const pairs = statement.kind === "pair" ? [statement] : pairsBelow(statements, at);
    const unit = { key: key.name, start: statement.start, end: pairs.at(-1)?.end ?? statement.end, name: key, pairs };
    units.push(statement.kind === "pair" ? unit : { ...unit, header: statement });
  }
  return units;
}

/** The pair whose value contains all hooks or all states. */
const inlineOf = (statements: readonly Statement[]): Pair | undefined =>
  statements.find((statement): statement is Pair => {
    if (statement.kind !== "pair") return false;
    const path = fullPath(statement);
    return path[0] === "hooks" && (path.length === 1 || (path.length === 2 && path[1] === "state"));
  });

function inlineError(text: string, { valueStart }: Pair): SettingsError {
  const at = new TomlError("", text, valueStart);
  return new SettingsError(
    '"hooks" or "hooks.state" is an inline table, which nothing can be added to',
    "write it as a table, [hooks.state], and run the command again",
    at.line,
    at.column,
  );
}

/** Replaces the hash; other settings of the hook are kept. */
function trustEdits({ header, pairs }: StateBlock, hash: string, text: string): readonly Edit[] {
  const own = pairs.find((pair) => fullPath(pair)[3] === "trusted_hash");
  if (own !== undefined) return own.value === hash ? [] : [replaced(own, tomlString(hash))];
  const table = pairs.find(({ value }) => isTable(value));
  if (header === undefined && table !== undefined && isTable(table.value)) {
    if (table.value["trusted_hash"] === hash) return [];
    return [replaced(table, withHash(text.slice(table.valueStart, table.valueEnd), hash))];
  }
  const at = header?.end ?? pairs[0]?.start ?? text.length;
  const eol = eolOf(text);
  const line = `${header === undefined ? dotted(pairs[0]) : ""}trusted_hash = ${tomlString(hash)}`;
  const isLast = header !== undefined && at === text.length && !text.endsWith("\n");
  return [{ start: at, end: at, text: isLast ? `${eol}${line}` : `${line}${eol}` }];
}

/** An inline table with the hash added. */
function withHash(table: string, hash: string): string {
  const pair = `trusted_hash = ${tomlString(hash)}`;
  const hashPattern = /(?<=[{,]\s*)["']?trusted_hash["']?\s*=\s*(?:"[^"\\]*"|'[^']*')/;
  if (hashPattern.test(table)) return table.replace(hashPattern, () => pair);
  const held = table.slice(1, -1).trim();
  return held === "" ? `{ ${pair} }` : `{ ${held}, ${pair} }`;
}

const replaced = ({ valueStart, valueEnd }: Pair, text: string): Edit => ({ start: valueStart, end: valueEnd, text });

/** `"key".` of a pair `"key".enabled = true`, to add another pair of the same key. */
const dotted = (pair: Pair | undefined): string =>
  (pair?.path ?? [])
    .slice(0, -1)
    .map(({ name }) => `${tomlString(name)}.`)
    .join("");

function applied(text: string, edits: readonly Edit[]): string {
  let result = text;
  for (const { start, end, text: content } of [...edits].sort((a, b) => b.start - a.start)) {
    result = result.slice(0, start) + content + result.slice(end);
  }
  return result;
}

/**
 * Removes our comments that no entry of ours follows, with the empty line before each.
 *
 * @param isOpen the removed text ended without a line break, so the text before it originally ended without one
 */
function withoutEmptyMarks(text: string, isOpen: boolean): string {
  const headers = new Set(statementsOf(text).map(({ start }) => start));
  let result = text;
  for (let at = text.lastIndexOf(MARK); at !== -1; at = at === 0 ? -1 : text.lastIndexOf(MARK, at - 1)) {
    const end = at + (/\r?\n|$/.exec(text.slice(at + MARK.length))?.[0].length ?? 0) + MARK.length;
    const before = text.slice(0, at);
    const isLine = /(?:^|\n|\uFEFF)$/.test(before) && /^\r?\n?$/.test(text.slice(at + MARK.length, end));
    if (!isLine || (headers.has(end) && /^\[hooks\.state\./.test(text.slice(end)))) continue;
    const withoutLine = before.replace(/(?<=^|\n)\r?\n$/, "");
    const kept = isOpen && end === text.length ? withoutLine.replace(/\r?\n$/, "") : withoutLine;
    result = kept + result.slice(end);
  }
  return result;
}

/** Appends at the end of the text, where nothing can split a table. */
function appended(text: string, states: readonly (readonly [string, string])[]): string {
  const eol = eolOf(text);
  const lines = states.flatMap(([key, hash]) => [
    `[hooks.state.${tomlString(key)}]`,
    `trusted_hash = ${tomlString(hash)}`,
  ]);
  const block = [MARK, ...lines].join(eol);
  if (text === "" || text === "\uFEFF") return `${text}${block}${eol}`;
  // If the text has no line break at its end, add none
  return text.endsWith("\n") ? `${text}${eol}${block}${eol}` : `${text}${eol}${eol}${block}`;
}
