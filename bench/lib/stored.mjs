import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT } from "./options.mjs";

/**
 * A store's totals, with the same names as the totals of a corpus: sums over its views, which include imported sessions.
 *
 * @param agent an entry of AGENTS in corpora.mjs
 */
export function totalsOfStore({ source }, stateDir) {
  const Database = createRequire(join(ROOT, "package.json"))("libsql");
  const db = new Database(join(stateDir, "store.db"), { readonly: true });
  try {
    const one = (sql) => db.prepare(sql).get();
    const usage =
      one(`SELECT sum(calls) AS calls, sum(input) AS input, sum(output) AS output, sum(reasoning) AS reasoning,
      sum(cache_read) AS cache_read, sum(cache_write) AS cache_write FROM usage`);
    const tools = one("SELECT sum(calls) AS calls, sum(errors) AS errors FROM tool_usage");
    const common = {
      sessions: one("SELECT count(*) AS n FROM sessions WHERE parent IS NULL").n,
      turns: one("SELECT sum(turns) AS n FROM turn_usage WHERE origin IN ('human', 'machine')").n,
      responses: usage.calls,
      tool_calls: tools.calls,
      tool_errors: tools.errors,
      output: usage.output,
      cache_read: usage.cache_read,
    };
    return source === "codex"
      ? { ...common, input: usage.input, reasoning: usage.reasoning }
      : { ...common, input: usage.input - usage.cache_read - usage.cache_write, cache_creation: usage.cache_write };
  } finally {
    db.close();
  }
}
