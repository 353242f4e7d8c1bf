import { TOKEN_KINDS } from "#core/model/token-kinds.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { CALL, COLUMNS, type ColumnKind, type FactTable, type TableKind } from "#core/packed/fact-tables.ts";
import { compareUsage, isLessJson, joinUsage } from "#core/rules/merge.ts";
import type { Writable } from "#kit/objects.ts";

/**
 * Joins a row into another one with the same key, as `mergeEntries` joins two entries.
 *
 * @param into index of the first number of the row that stays
 * @param from the same of the other row
 */
export function mergeRow(table: FactTable, into: number, from: number, texts: readonly string[]): void {
  const { data, kind } = table;
  const isCall = kind === "model_call";
  const agent = data[into + CALL.agentId] ?? Number.NaN;
  const isOfSubagent = !Number.isNaN(agent) && !Number.isNaN(data[from + CALL.agentId]);
  mergeTurn(data, into, from, texts);
  if (isCall) mergeCall(data, into, from, texts);
  for (const [place, column] of JOINED[kind]) {
    const a = data[into + place] ?? Number.NaN;
    const b = data[from + place] ?? Number.NaN;
    if (a === b || Number.isNaN(b)) continue;
    if (Number.isNaN(a) || isLess(b, a, column, texts)) data[into + place] = b;
  }
  // A subagent that continues the main conversation begins its file with copies of it
  if (!isOfSubagent) data[into + CALL.agentId] = Number.NaN;
}

// --- internal ---

/** Columns that are not joined by the general rule, see `JOINED`. */
const SPECIAL_COLUMNS: ReadonlySet<string> = new Set([
  ...["key", "globalKey", "timeMs", "promptKey", "startMs", "endMs", "complete", "model", "tier", "webSearches"],
  ...["coveredCalls", "nanoCredits"],
  ...TOKEN_KINDS,
]);

/** Columns that are joined one by one: the smaller value is kept. */
const JOINED = Object.fromEntries(
  Object.entries(COLUMNS).map(([kind, columns]) => [
    kind,
    Object.entries(columns)
      .map(([name, column], place) => ({ name, column, place }))
      .filter(({ name }) => !SPECIAL_COLUMNS.has(name))
      .map(({ place, column }) => [place, column] as const),
  ]),
) as unknown as { readonly [K in TableKind]: readonly (readonly [place: number, column: ColumnKind])[] };

/** Compares values by their JSON, as `mergeEntries` does. */
function isLess(a: number, b: number, column: ColumnKind, texts: readonly string[]): boolean {
  if (column === "json") return isLessJson(JSON.parse(texts[a] ?? "null"), JSON.parse(texts[b] ?? "null"));
  return column === "text" ? JSON.stringify(texts[a]) < JSON.stringify(texts[b]) : String(a) < String(b);
}

/** Time and turn of the earlier row: a record belongs to the turn in which it was first written. */
function mergeTurn(data: Float64Array, into: number, from: number, texts: readonly string[]): void {
  const order = (data[into + CALL.timeMs] ?? 0) - (data[from + CALL.timeMs] ?? 0);
  if (order < 0) return;
  const [a, b] = [data[into + CALL.promptKey] ?? Number.NaN, data[from + CALL.promptKey] ?? Number.NaN];
  if (order === 0 && (a === b || Number.isNaN(b))) return;
  if (order === 0 && !Number.isNaN(a) && JSON.stringify(texts[a]) <= JSON.stringify(texts[b])) return;
  data[into + CALL.timeMs] = data[from + CALL.timeMs] ?? 0;
  data[into + CALL.promptKey] = b;
}

function mergeCall(data: Float64Array, into: number, from: number, texts: readonly string[]): void {
  const start = data[from + CALL.startMs] ?? Number.NaN;
  const before = data[into + CALL.startMs] ?? Number.NaN;
  if (Number.isNaN(before) || start < before) data[into + CALL.startMs] = start;
  const end = data[from + CALL.endMs] ?? 0;
  if (end > (data[into + CALL.endMs] ?? 0)) data[into + CALL.endMs] = end;
  if (data[from + CALL.complete] === 1) data[into + CALL.complete] = 1;
  for (const place of [CALL.webSearches, CALL.coveredCalls, CALL.nanoCredits]) {
    const most = data[from + place] ?? Number.NaN;
    if (!(most <= (data[into + place] ?? Number.NaN)) && !Number.isNaN(most)) data[into + place] = most;
  }
  mergeFuller(data, into, from, texts);
}

/** Usage, model and service tier are those of the row with the fuller usage, see `compareUsage`. */
function mergeFuller(data: Float64Array, into: number, from: number, texts: readonly string[]): void {
  const order = compareRows(data, from, into);
  const [mine, other] = [data[into + CALL.model] ?? Number.NaN, data[from + CALL.model] ?? Number.NaN];
  joinRows(data, into, from, order > 0);
  const isSame = mine === other || (Number.isNaN(mine) && Number.isNaN(other));
  const isOther =
    order > 0 || (order === 0 && !Number.isNaN(other) && (Number.isNaN(mine) || isLess(other, mine, "text", texts)));
  if (Number.isNaN(mine) || (isOther && !Number.isNaN(other))) data[into + CALL.model] = other;
  const [own, others] = [data[into + CALL.tier] ?? Number.NaN, data[from + CALL.tier] ?? Number.NaN];
  const isOthers =
    order !== 0 || !isSame
      ? isOther
      : Number.isNaN(own) || (!Number.isNaN(others) && isLess(others, own, "text", texts));
  if (isOthers) data[into + CALL.tier] = others;
}

/** Does what `joinUsage` does, for rows. */
function joinRows(data: Float64Array, into: number, from: number, isFromFuller: boolean): void {
  const fuller = isFromFuller ? from : into;
  const isSum = !Number.isNaN(data[into + CALL.covers]) || !Number.isNaN(data[from + CALL.covers]);
  // Sums over several calls are not joined: the fuller one is the later one
  if (isWholeAt(data, fuller) || (isSum && usageAt(data, fuller) !== undefined)) {
    if (isFromFuller) data.copyWithin(into + CALL.input, from + CALL.input, from + CALL.input + TOKEN_KINDS.length);
    return;
  }
  const joined = joinUsage(usageAt(data, fuller), usageAt(data, isFromFuller ? into : from));
  for (const [i, kind] of TOKEN_KINDS.entries()) data[into + CALL.input + i] = joined?.[kind] ?? Number.NaN;
}

/** Does what `compareUsage` does, for rows. */
function compareRows(data: Float64Array, a: number, b: number): number {
  const [mine, other] = [data[a + CALL.output] ?? Number.NaN, data[b + CALL.output] ?? Number.NaN];
  if (mine !== other && !Number.isNaN(mine) && !Number.isNaN(other)) return mine - other;
  return compareUsage(usageAt(data, a), usageAt(data, b));
}

const isWholeAt = (data: Float64Array, at: number): boolean =>
  !Number.isNaN(data[at + CALL.input]) && !Number.isNaN(data[at + CALL.output]);

function usageAt(data: Float64Array, at: number): TokenUsage | undefined {
  let usage: Writable<TokenUsage> | undefined;
  for (const [i, kind] of TOKEN_KINDS.entries()) {
    const tokens = data[at + CALL.input + i] ?? Number.NaN;
    if (Number.isNaN(tokens)) continue;
    usage ??= {};
    usage[kind] = tokens;
  }
  return usage;
}
