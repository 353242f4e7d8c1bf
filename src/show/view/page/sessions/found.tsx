import { useEffect, useState } from "preact/hooks";
import type { Documents, SessionRow } from "../../wire/documents.ts";
import { type Fetched, fetchOnce } from "../data/api.ts";
import type { Params } from "../route.ts";
import { exact, plural } from "../text/format.ts";
import { keyOf, SessionTable } from "./session-table.tsx";

/** The sessions whose prompts, calls or answers contain the searched text, as far as the agents' files were read. */
interface FoundSessions {
  readonly rows: readonly SessionRow[];
  /** Where the text is, by the key of its session. */
  readonly lines: ReadonlyMap<string, string>;
  /** Sessions that were searched, and all that are to be searched. */
  readonly searched: number;
  readonly total: number;
  /** Whether the search has ended. */
  readonly isWhole: boolean;
}

/**
 * Searches the agents' files while the user waits, newest first, some sessions per request. A new query ends the search before it.
 *
 * @param filters those of the list, with its `text`
 */
export function useFound(filters: Params): FoundSessions {
  const query = JSON.stringify(filters);
  const isSearch = (filters["text"] ?? "").length >= MIN_TEXT;
  const [{ of, found }, setFound] = useState({ of: "", found: NOTHING });
  useEffect(() => {
    if (!isSearch) return;
    const control = new AbortController();
    const search = async (): Promise<void> => {
      const endMs = Date.now() + MAX_MS;
      let all = NOTHING;
      for (let after: number | null = 0; after !== null; ) {
        const reply: Fetched<Documents["found"]> | undefined = await fetchOnce(
          "found",
          { ...filters, after: String(after) },
          control.signal,
        );
        if (reply === undefined) return;
        after = reply.data?.next ?? null;
        if (Date.now() > endMs || all.rows.length >= MAX_ROWS) after = null;
        all = reply.data === undefined ? all : withMore(all, reply.data);
        setFound({ of: query, found: { ...all, isWhole: after === null } });
      }
    };
    void search();
    return () => control.abort();
  }, [query]);
  if (!isSearch) return { ...NOTHING, isWhole: true };
  return of === query ? found : NOTHING;
}

/** The found sessions, each with the line that contains the text, and how far the search is. */
export function Found({ of: { rows, lines, searched, total, isWhole } }: { of: FoundSessions }) {
  if (total === 0) return null;
  return (
    <section aria-labelledby="found">
      <h2 id="found">In prompts, commands and answers</h2>
      <p class="muted" role="status">
        {isWhole
          ? `${plural(rows.length, "session")}${searched < total ? `; only the latest ${exact(searched)} of ${exact(total)} were searched` : ""}`
          : `Searched ${exact(searched)} of ${plural(total, "session")} …`}
      </p>
      {rows.length === 0 ? null : <SessionTable rows={rows} lines={lines} label="Sessions with the text inside" />}
    </section>
  );
}

// --- internal ---

/** Shorter texts are in every file. */
const MIN_TEXT = 3;
/** Somebody waits. */
const MAX_MS = 10_000;
const MAX_ROWS = 50;

const NOTHING: FoundSessions = { rows: [], lines: new Map(), searched: 0, total: 0, isWhole: false };

const withMore = (all: FoundSessions, { rows, searched, total }: Documents["found"]): FoundSessions => ({
  ...all,
  rows: [...all.rows, ...rows.map(({ row }) => row)],
  lines: new Map([...all.lines, ...rows.map(({ row, line }) => [keyOf(row), line] as const)]),
  searched,
  total,
});
