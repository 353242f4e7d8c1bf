import { useEffect, useMemo, useState } from "preact/hooks";
import type { SessionDocument } from "../../wire.ts";
import { useApi } from "../api.ts";
import { dataOf, Placeholder, problemOf } from "../placeholder.tsx";
import { hrefOf } from "../route.ts";
import { safeText } from "../safe-text.ts";
import { Details } from "./details.tsx";
import { Head } from "./head.tsx";
import { readSpans } from "./spans.ts";
import { Waterfall } from "./waterfall.tsx";

/** One session: its usage, and a waterfall of its spans. */
export function SessionView({ source, id }: { source: string; id: string }) {
  const response = useApi<SessionDocument>("session", { source, id });
  const session = dataOf(response, "session");
  const spans = useMemo(() => (session === undefined ? undefined : readSpans(session.spans)), [session]);
  const [selected, setSelected] = useState<string | undefined>(undefined);
  const title =
    session === undefined ? "Session" : `${session.row.agent} · ${session.row.repository ?? id.slice(0, 8)}`;

  useEffect(() => {
    document.title = `${safeText(title)} · openhook-otel`;
  }, [title]);

  if (session === undefined || spans === undefined) {
    return <Placeholder problem={problemOf(response)} backHref={hrefOf("sessions")} />;
  }
  const close = (): void => {
    setSelected(undefined);
    document.getElementById("waterfall")?.focus();
  };
  const index = selected === undefined ? -1 : spans.indexOf(selected);
  return (
    <>
      <Head document={session} />
      {spans.count === 0 ? (
        <section class="placeholder">
          <h2>No spans yet</h2>
          <p class="muted">Spans appear here as the agent works.</p>
        </section>
      ) : (
        <div class={index < 0 ? "work" : "work with-details"}>
          <Waterfall spans={spans} selected={index < 0 ? undefined : selected} onSelect={setSelected} onClose={close} />
          {index < 0 || selected === undefined ? null : (
            <Details source={source} sessionId={id} spans={spans} index={index} version={session} onClose={close} />
          )}
        </div>
      )}
    </>
  );
}
