import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import type { UsageQuery } from "../../report/query.ts";
import { inReadingOrder } from "../../report/text/usage-keys.ts";
import { usage } from "../../report/usage.ts";
import { csvLines, queryJson, rowJson } from "../../report/usage-data.ts";

/** A file that the browser saves. */
export class Download {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(name: string, type: string, body: string) {
    this.body = body;
    this.headers = { "content-type": type, "content-disposition": `attachment; filename="${name}"` };
  }
}

/** The figures of a view as a file, with the columns of `report --csv` and the rows of `report --json`. */
export function downloadOf(
  db: Database,
  { agents }: Pick<SessionSource, "agents">,
  query: UsageQuery,
  format: "csv" | "json",
): Download {
  const rows = inReadingOrder(query.by, usage(db, { agents }, query));
  const name = `openhook-usage${query.by.map((dimension) => `-${dimension}`).join("")}.${format}`;
  if (format === "csv") {
    const lines = [...csvLines(query, rows)].map((line) => `${line}\n`);
    return new Download(name, "text/csv; charset=utf-8", lines.join(""));
  }
  const document = { ...queryJson(query, query.timeZone ?? null), rows: rows.map(rowJson) };
  return new Download(name, "application/json", `${JSON.stringify(document, undefined, 2)}\n`);
}
