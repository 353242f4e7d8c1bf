import type { Packed, PackedUsage } from "#core/model/packed.ts";
import { TOKEN_KINDS, TOKEN_NAMES } from "#core/model/token-kinds.ts";
import type { Database, Row, Value } from "./database.ts";
import { insertRows, rowOf } from "./rows.ts";

/** Inserts the sums of packed sessions into `packed_usage`, `packed_tools` and `packed_turns`. */
export function putSums(db: Database, sessions: readonly { readonly id: number; readonly packed: Packed }[]): void {
  for (const kind of ["usage", "tools", "turns"] as const) {
    const columns = ["session", ...COLUMNS[kind]];
    const values: Value[] = [];
    for (const { id, packed } of sessions) {
      if (kind === "usage") for (const row of packed.usage) values.push(id, ...usageValues(row));
      else for (const row of packed[kind]) values.push(id, ...row);
    }
    insertRows(db, `INSERT INTO packed_${kind} (${columns.join(", ")}) VALUES`, rowOf(columns.length), values);
  }
}

/** The sums of a packed session's calls as they are stored. */
export const packedUsage = (db: Database, session: number): readonly PackedUsage[] =>
  db
    .prepare(`SELECT ${COLUMNS.usage.join(", ")} FROM packed_usage WHERE session = ?`)
    .all(session)
    .map(usageOf);

// --- internal ---

const USAGE_FIELDS = {
  timeMs: "time_ms",
  model: "model",
  subagent: "subagent",
  calls: "calls",
  aggregateRecords: "sums_told",
  withoutUsage: "without_usage",
  unpriced: "unpriced",
  incomplete: "incomplete",
  costNanoUsd: "cost_nano_usd",
  durationMs: "duration_ms",
  noPrice: "no_price",
  unpricedCalls: "unpriced_calls",
  webSearches: "web_searches",
  unpricedSearches: "unpriced_searches",
  feeNanoUsd: "fee_nano_usd",
  nanoCredits: "nano_credits",
} as const satisfies Readonly<Record<Exclude<keyof PackedUsage, "tokens">, string>>;

const FIELDS = Object.keys(USAGE_FIELDS) as readonly (keyof typeof USAGE_FIELDS)[];

const COLUMNS = {
  usage: [...Object.values(USAGE_FIELDS), ...Object.values(TOKEN_NAMES)],
  tools: "time_ms name mcp_server skill subagent calls errors denied unfinished duration_ms".split(" "),
  turns: "time_ms origin turns failed interrupted".split(" "),
};

const usageValues = (row: PackedUsage): readonly Value[] => [...FIELDS.map((field) => row[field]), ...row.tokens];

function usageOf(row: Row): PackedUsage {
  const fields = FIELDS.map((field) => [field, row[USAGE_FIELDS[field]]]);
  const tokens = TOKEN_KINDS.map((kind) => row[TOKEN_NAMES[kind]]);
  return { ...Object.fromEntries(fields), tokens } as PackedUsage;
}
