import { useEffect, useMemo, useState } from "preact/hooks";
import type { SessionDocument } from "../../wire.ts";
import { useAsked } from "../ask.ts";
import { given, Instead, missing } from "../parts.tsx";
import { hrefOf } from "../route.ts";
import { shown } from "../shown.ts";
import { Details } from "./details.tsx";
import { Head } from "./head.tsx";
import { readSpans } from "./spans.ts";
import { Waterfall } from "./waterfall.tsx";

/** One session: its usage, and a waterfall of its work. */
export function SessionView({ source, id }: { source: string; id: string }) {
  const asked = useAsked<SessionDocument>("session", { source, id });
  const found = given(asked, "session");
  const spans = useMemo(() => (found === undefined ? undefined : readSpans(found.spans)), [found]);
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const title = found === undefined ? "Session" : `${found.row.agent} · ${found.row.repository ?? id.slice(0, 8)}`;

  useEffect(() => {
    document.title = `${shown(title)} · openhook-otel`;
  }, [title]);

  if (found === undefined || spans === undefined) {
    return <Instead answer={missing(asked)} again={hrefOf("sessions")} />;
  }
  const close = (): void => {
    setChosen(undefined);
    document.getElementById("waterfall")?.focus();
  };
  const index = chosen === undefined ? -1 : spans.indexOf(chosen);
  return (
    <>
      <Head document={found} />
      {spans.count === 0 ? (
        <section class="instead">
          <h2>Nothing has happened in it yet</h2>
          <p class="muted">What the agent does shows here by itself.</p>
        </section>
      ) : (
        <div class={index < 0 ? "work" : "work with-details"}>
          <Waterfall spans={spans} chosen={index < 0 ? undefined : chosen} onChoose={setChosen} onClose={close} />
          {index < 0 || chosen === undefined ? null : (
            <Details source={source} session={id} spans={spans} index={index} changed={found} onClose={close} />
          )}
        </div>
      )}
    </>
  );
}
