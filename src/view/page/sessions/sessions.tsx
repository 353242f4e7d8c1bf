import { useEffect, useMemo, useState } from "preact/hooks";
import type { SessionList, SessionRow, Sort } from "../../wire.ts";
import { askOnce, useAsked } from "../ask.ts";
import { exact, plural } from "../format.ts";
import { given, Instead, missing, NoSessionYet } from "../parts.tsx";
import { change, hrefOf } from "../route.ts";
import { Filters } from "./filters.tsx";
import { boundsOf } from "./period.ts";
import { SessionTable } from "./session-table.tsx";

/** All sessions: the ones that the filters leave, a page at a time. Filters stand in the address. */
export function Sessions({ params }: { params: Readonly<Record<string, string>> }) {
  const { agent, repository, model, text, errors, sort, rising } = params;
  const { period, from, to } = params;
  const times = useMemo(() => boundsOf({ period, from, to }), [period, from, to]);
  const query = { agent, repository, model, text, errors, sort, rising, ...times };
  const asked = useAsked<SessionList>("sessions", { ...query, limit: String(PAGE) });
  const list = given(asked, "sessions");
  const more = useMore(JSON.stringify(query));

  useEffect(() => {
    document.title = "Sessions · openhook-otel";
  }, []);

  if (list === undefined) return <Instead answer={missing(asked)} />;
  const rows = joined(list.rows, more.rows);
  const next = more.next === undefined ? list.next : more.next;
  return (
    <>
      <div class="heading">
        <h1>Sessions</h1>
        <p class="muted" role="status">
          {list.count === list.all ? exact(list.all) : `${exact(list.count)} of ${exact(list.all)}`}
        </p>
      </div>
      <Filters params={params} choices={list.choices} onChange={change} />
      {rows.length === 0 ? (
        <Empty any={list.all > 0} />
      ) : (
        <SessionTable
          rows={rows}
          sort={(sort as Sort | undefined) ?? "recent"}
          rising={rising === "1"}
          onSort={(by, up) => change({ sort: by === "recent" ? undefined : by, rising: up ? "1" : undefined })}
        />
      )}
      {next === null || rows.length === 0 ? null : (
        <p class="more">
          <button
            type="button"
            disabled={more.busy}
            onClick={() => void more.get({ ...query, limit: String(PAGE), after: next })}
          >
            Show more
          </button>
          <span class="muted">{plural(list.count - rows.length, "more session")}</span>
        </p>
      )}
    </>
  );
}

// --- internal ---

const PAGE = 50;

function Empty({ any }: { any: boolean }) {
  if (!any) {
    return <NoSessionYet />;
  }
  return (
    <section class="instead">
      <h2>No session fits these filters</h2>
      <p>
        <a href={hrefOf("sessions")}>Show all of them</a>
      </p>
    </section>
  );
}

/** Pages after the first. They go when the question is another one. */
function useMore(question: string) {
  const [state, setState] = useState<{
    rows: readonly SessionRow[];
    next: string | null | undefined;
    busy: boolean;
    of: string;
  }>({ rows: [], next: undefined, busy: false, of: question });
  const own = state.of === question ? state : { rows: [], next: undefined, busy: false, of: question };
  const get = async (params: Readonly<Record<string, string | undefined>>): Promise<void> => {
    setState({ ...own, busy: true });
    const answer = await askOnce<SessionList>("sessions", params, new AbortController().signal);
    if (answer?.kind === "sessions") {
      setState({ rows: [...own.rows, ...answer.rows], next: answer.next, busy: false, of: question });
    } else setState({ ...own, busy: false });
  };
  return { ...own, get };
}

/** One that has moved to the first page meanwhile is shown there alone. */
function joined(first: readonly SessionRow[], more: readonly SessionRow[]): readonly SessionRow[] {
  const keys = new Set(first.map(keyOf));
  return [...first, ...more.filter((row) => !keys.has(keyOf(row)))];
}

const keyOf = ({ source, sessionId }: SessionRow): string => `${source}/${sessionId}`;
