import { useState } from "preact/hooks";
import type { ChangeDimension } from "../../wire/api.ts";
import { type ChangeOutcome, type ChangesDocument, FATES, type Fate, type UsageFigures } from "../../wire/documents.ts";
import { Cost, InOut, Time, Unknown } from "../figures/figures.tsx";
import { NumberCell, ShareCell } from "../figures/table.tsx";
import { hrefOf } from "../route.ts";
import { keyOf, nameOf } from "../sessions/session-table.tsx";
import { duration, exact, percent, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";

type ChangeRow = ChangesDocument["rows"][number];

interface Props {
  readonly by: ChangeDimension;
  readonly row: ChangeRow;
  /** Its cost as a share of the highest one. */
  readonly share: number;
  /** Whether its sessions are shown from the start. */
  readonly isOpen: boolean;
}

/** The row of a change, which opens to the sessions behind it. */
export function Change({ by, row, share, isOpen }: Props) {
  const [open, setOpen] = useState(isOpen);
  const { figures, timeMs, sessions } = row;
  return (
    <tbody>
      <tr>
        <th scope="row">
          <Name by={by} row={row} />
          <span class="muted small">
            {[row.repositories, row.agents].map((names, i) =>
              names.length === 0 ? null : <span key={i}>{names.map(safeText).join(", ")}</span>,
            )}
            <button type="button" class="link" aria-expanded={open} onClick={() => setOpen(!open)}>
              {plural(sessions.length, "session")}
              <span aria-hidden="true"> {open ? "▾" : "▸"}</span>
            </button>
          </span>
        </th>
        <ShareCell share={share} />
        <ChangeFigures figures={figures} />
        <td class="outcome" data-name="What became of it">
          <Outcome outcome={row.outcome} />
        </td>
        <td data-name="When" class="when">
          {timeMs === null ? <Unknown /> : <Time ms={timeMs} />}
        </td>
      </tr>
      {open ? (
        <tr class="behind">
          <td colSpan={COLUMNS}>
            <ul aria-label={`Sessions behind ${safeText(row.key)}`}>
              {sessions.map((part) => (
                <Session key={keyOf(part)} part={part} />
              ))}
            </ul>
          </td>
        </tr>
      ) : null}
    </tbody>
  );
}

/** The cells of a change's figures, or of a sum. */
export function ChangeFigures({ figures }: { figures: UsageFigures }) {
  const { turns, modelMs, tool_ms } = figures;
  return (
    <>
      <NumberCell name="Cost">
        <Cost of={figures} />
      </NumberCell>
      <NumberCell name="Model time">{modelMs === null ? <Unknown /> : duration(modelMs)}</NumberCell>
      <NumberCell name="Tool time">{tool_ms === undefined ? <Unknown /> : duration(tool_ms)}</NumberCell>
      <NumberCell name="Tokens">
        <InOut of={figures} />
      </NumberCell>
      <NumberCell name="Turns">{turns === undefined ? <Unknown /> : exact(turns)}</NumberCell>
    </>
  );
}

// --- internal ---

/** As many as the table has. */
const COLUMNS = 9;

/** Digits of a commit that git accepts everywhere. */
const SHOWN_DIGITS = 10;

/** The name, as a link to the pull request if its address is known, and how certain it is that the sessions made it. */
function Name({ by, row: { key, url, certainty } }: { by: ChangeDimension; row: ChangeRow }) {
  const text = by === "commit" ? key.slice(0, SHOWN_DIGITS) : safeText(key);
  return (
    <span class={by === "commit" ? "change-name id" : "change-name"} title={safeText(key)}>
      {url === null ? (
        text
      ) : (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {text}
        </a>
      )}
      <span class={`badge ${certainty}`}>{certainty}</span>
    </span>
  );
}

/** The part of a session that led to the change. */
function Session({ part }: { part: ChangeRow["sessions"][number] }) {
  const { source, session_id, agent, lastMs, figures } = part;
  return (
    <li>
      <span>
        <Time ms={lastMs} />{" "}
        <a href={hrefOf("session", { source, id: session_id })} title={safeText(session_id)}>
          {nameOf(part)}
        </a>{" "}
        <span class="muted">{safeText(agent)}</span>
      </span>
      <span>
        <Cost of={figures} />
        {figures.turns === undefined ? "" : ` · ${plural(figures.turns, "turn")}`}
        {figures.tool_calls === undefined ? "" : ` · ${plural(figures.tool_calls, "tool call")}`}
      </span>
    </li>
  );
}

/** What became of the commits of a change, as far as it was checked. */
function Outcome({ outcome }: { outcome: ChangeOutcome | null }) {
  if (outcome === null) return <span class="muted">no commit known</span>;
  const { commits, unchecked, fates, rewritten, kept, note } = outcome;
  const single = commits === 1;
  return (
    <>
      <span class="fates">
        {FATES.filter((fate) => fates[fate] > 0).map((fate) => (
          <span key={fate} class={`badge fate ${FATE_STYLES[fate]}`}>
            {single ? "" : `${exact(fates[fate])} `}
            {fate}
          </span>
        ))}
        {unchecked === 0 ? null : (
          <span class="badge fate unchecked">{single ? "not checked yet" : `${exact(unchecked)} not checked yet`}</span>
        )}
      </span>
      {note === null && rewritten === 0 && kept === null ? null : (
        <span class="muted small">
          {[
            ...(note === null ? [] : [safeText(note)]),
            ...(note === null && rewritten > 0 ? [`${exact(rewritten)} rewritten`] : []),
            ...(kept === null
              ? []
              : [
                  `${percent(kept.kept, kept.written)} of ${plural(kept.written, "line")} kept after ${plural(kept.days, "day")}`,
                ]),
          ].join(" · ")}
        </span>
      )}
    </>
  );
}

const FATE_STYLES = {
  merged: "kept",
  reverted: "undone",
  open: "pending",
  gone: "lost",
  unknown: "unchecked",
} as const satisfies Record<Fate, string>;
