import { useEffect, useState } from "preact/hooks";
import type { SessionList, Sort } from "../../wire.ts";
import { useAsked } from "../ask.ts";
import { exact, plural } from "../format.ts";
import { given, Instead, missing, NoSessionYet } from "../parts.tsx";
import { change, hrefOf } from "../route.ts";
import { Filters } from "./filters.tsx";
import { boundsOf } from "./period.ts";
import { SessionTable } from "./session-table.tsx";

/** The sessions that match the filters, page by page. The filters are part of the address. */
export function Sessions({ params }: { params: Readonly<Record<string, string>> }) {
  const { agent, repository, model, text, errors, sort, rising } = params;
  const { period, from, to } = params;
  const query = { agent, repository, model, text, errors, sort, rising, ...boundsOf({ period, from, to }) };
  const [limit, showMore] = useLimit(JSON.stringify(params));
  const asked = useAsked<SessionList>("sessions", { ...query, limit: String(limit) });
  const list = given(asked, "sessions");

  useEffect(() => {
    document.title = "Sessions · openhook-otel";
  }, []);

  if (list === undefined) return <Instead answer={missing(asked)} />;
  const { rows } = list;
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
      {rows.length >= list.count ? null : (
        <p class="more">
          <button type="button" onClick={showMore}>
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

/** The number of rows shown: all of them follow the store. Another query starts with the first page. */
function useLimit(question: string): readonly [limit: number, showMore: () => void] {
  const [state, setState] = useState({ limit: PAGE, of: question });
  const limit = state.of === question ? state.limit : PAGE;
  return [limit, () => setState({ limit: limit + PAGE, of: question })];
}
