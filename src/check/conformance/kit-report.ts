import { type Column, table } from "#kit/text/table.ts";
import type { Terminal } from "#kit/text/terminal.ts";
import { faultIn, type Implementation, KIT_KINDS, type KitCase, type KitKind } from "./kit.ts";

/** The result of one case. */
interface KitResult {
  readonly kitCase: KitCase;
  /** Absent: the answer was right. */
  readonly fault?: string;
}

/** Runs cases one after another. */
export async function runKit(cases: readonly KitCase[], implementation: Implementation): Promise<readonly KitResult[]> {
  const results: KitResult[] = [];
  for (const kitCase of cases) {
    const fault = faultIn(kitCase, await implementation(kitCase));
    results.push({ kitCase, ...(fault !== undefined && { fault }) });
  }
  return results;
}

/** The highest level whose cases, and those of all levels below, ran and passed; 0: none. */
export function levelIn(results: readonly KitResult[]): 0 | 1 | 2 | 3 {
  const passes = (level: number): boolean => {
    const own = results.filter(({ kitCase }) => kitCase.level === level);
    return own.length > 0 && own.every(({ fault }) => fault === undefined);
  };
  if (!passes(1)) return 0;
  if (!passes(2)) return 1;
  return passes(3) ? 3 : 2;
}

/** The failed cases, a table by kind and level, and the level. */
export function* kitLines(results: readonly KitResult[], terminal: Terminal): Generator<string> {
  for (const { kitCase, fault } of results) if (fault !== undefined) yield `${kitCase.name}: ${fault}`;
  const rows = KIT_KINDS.map((kind) => ({ kind, results: results.filter(({ kitCase }) => kitCase.kind === kind) }));
  yield* table(
    COLUMNS.filter(({ level }) => level === undefined || results.some(({ kitCase }) => kitCase.level === level)),
    rows.filter((row) => row.results.length > 0),
    terminal,
  );
  const level = levelIn(results);
  const isUntried = level < 3 && !results.some(({ kitCase }) => kitCase.level === level + 1);
  yield `conformance level: ${level} of 3${isUntried ? ` (no case of level ${level + 1} was run)` : ""}`;
}

// --- internal ---

interface Row {
  readonly kind: KitKind;
  readonly results: readonly KitResult[];
}

const passed = ({ results }: Row, level: number): string => {
  const own = results.filter(({ kitCase }) => kitCase.level === level);
  return own.length === 0 ? "–" : `${own.filter(({ fault }) => fault === undefined).length}/${own.length}`;
};

const COLUMNS: readonly (Column<Row> & { readonly level?: number })[] = [
  { title: "cases", cell: ({ kind }) => kind, rank: 9 },
  ...([1, 2, 3] as const).map((level) => ({
    level,
    title: `level ${level}`,
    cell: (row: Row) => passed(row, level),
    align: "right" as const,
    rank: 8,
  })),
];
