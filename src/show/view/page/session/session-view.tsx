import { useEffect, useMemo, useState } from "preact/hooks";
import type { SessionDocument } from "../../wire/documents.ts";
import { useApi } from "../data/api.ts";
import { EXPORTED } from "../data/exported.ts";
import { useNow, useTitle } from "../hooks.ts";
import { Placeholder } from "../parts/placeholder.tsx";
import { hrefOf, readRoute } from "../route.ts";
import { dateTime, msOf } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { Details } from "./details.tsx";
import { Explanation } from "./explanation.tsx";
import { TitleBar } from "./head.tsx";
import { isWorking, readSpans } from "./spans.ts";
import { useStory } from "./story.ts";
import { Waterfall } from "./waterfall/waterfall.tsx";

interface Props {
  readonly source: string;
  readonly id: string;
  /** Id of the span that the address names. */
  readonly span: string | undefined;
}

/** Tells the tabs of two sessions apart. The prompt stays out of it: browsers keep titles in their history. */
const tabTitle = ({ row }: SessionDocument): string =>
  [dateTime(msOf(row.start)), row.agent, row.repositoryName ?? row.session_id.slice(0, 8)].map(safeText).join(" · ");

/** One session: its usage, where its time and money went, and a waterfall of its spans. */
export function SessionView({ source, id, span }: Props) {
  const { data: session, problem } = useApi("session", { source, id });
  const isRunning = session !== undefined && EXPORTED === undefined && isWorking(session.spans);
  const nowMs = useNow(isRunning, GROW_MS);
  const untilMs = isRunning ? nowMs : undefined;
  const explanation = useApi("explain", session === undefined ? undefined : { source, id }).data;
  const story = useStory(source, id, session !== undefined);
  const spans = useMemo(
    () => (session === undefined ? undefined : readSpans(session.spans, untilMs, story.about)),
    [session, untilMs, story],
  );
  const [selected, setSelected] = useSelected(span);
  useTitle(session === undefined ? "Session" : tabTitle(session));

  if (session === undefined || spans === undefined) {
    return <Placeholder problem={problem} backHref={hrefOf("sessions")} />;
  }
  const close = (): void => {
    setSelected(undefined);
    document.getElementById("waterfall")?.focus();
  };
  const index = selected === undefined ? -1 : spans.indexOf(selected);
  return (
    <div class="session-page">
      <TitleBar document={session} untilMs={untilMs} />
      {spans.count === 0 ? (
        <section class="placeholder">
          <h2>No spans yet</h2>
          <p class="muted">Spans appear here as the agent works.</p>
        </section>
      ) : (
        <>
          <Explanation explanation={explanation} session={session} spans={spans} story={story} onSelect={setSelected} />
          <div class={index < 0 ? "work" : "work with-details"}>
            <Waterfall
              source={source}
              id={id}
              spans={spans}
              folder={session.row.folder}
              explanation={explanation}
              note={story.note}
              selected={index < 0 ? undefined : selected}
              onSelect={setSelected}
              onClose={close}
            />
            {index < 0 || selected === undefined ? null : (
              <Details
                session={session}
                spans={spans}
                index={index}
                story={story}
                onSelect={setSelected}
                onClose={close}
              />
            )}
          </div>
        </>
      )}
    </div>
  );
}

// --- internal ---

/**
 * The span with open details. It is part of the address, so that a link leads to it; written a moment later, because browsers limit how
 * often an address may change.
 */
function useSelected(named: string | undefined): readonly [string | undefined, (span: string | undefined) => void] {
  const [selected, setSelected] = useState(named);
  useEffect(() => setSelected(named), [named]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const { view, params } = readRoute(location.hash);
      if (view === "session" && params["span"] !== selected) {
        history.replaceState(history.state, "", hrefOf(view, { ...params, span: selected }));
      }
    }, ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [selected]);
  return [selected, setSelected];
}

/** Running spans grow this often. */
const GROW_MS = 2_000;
const ADDRESS_MS = 250;
