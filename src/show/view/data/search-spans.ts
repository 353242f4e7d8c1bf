import { SpanRecord } from "#core/model/telemetry.ts";
import type { SpanSettings } from "#core/telemetry/spans.ts";
import type { Database } from "#store/database.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import type { StoredSession } from "#store/sessions.ts";
import { outlineOf } from "../../report/session-view.ts";
import { matchesTerm, termsOf } from "../match.ts";
import type { SearchDocument } from "../wire/spans.ts";

type Deps = Pick<SessionSource, "agents"> & { readonly settings: SpanSettings };

/** The spans of a session whose attributes match each term of a search. */
export function searchSpans(
  db: Database,
  stored: StoredSession,
  search: string,
  { agents, settings }: Deps,
): SearchDocument {
  const open = outlineOf(db, stored, { agents }, settings).openSpans;
  const terms = termsOf(search).map((term) => {
    const settled = db
      .prepare("SELECT record FROM spans WHERE session = ? AND instr(lower(record), ?) > 0")
      .all(stored.id, fragmentOf(term))
      .map((row) => SpanRecord.parse(JSON.parse(String(row["record"]))));
    const ids = [...settled, ...open.map(({ record }) => record)]
      .filter((record) => matchesTerm(record, term))
      .map(({ spanId }) => spanId);
    return { term, ids: ids.join("") };
  });
  return { kind: "search", terms };
}

// --- internal ---

/** A part of the term that is in the JSON of every match as it is. SQLite lowers only ASCII letters, and JSON escapes some characters. */
const fragmentOf = (term: string): string =>
  term.split(/[^a-z0-9_.-]+/).reduce((longest, part) => (part.length > longest.length ? part : longest), "");
