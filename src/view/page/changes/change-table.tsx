import { useState } from "preact/hooks";
import type { UsageFigures } from "../../wire.ts";
import type { ChangeGroup, ChangePart, ChangeRow, ChangeSort, ChangesDocument } from "../../wire-changes.ts";
import { Cost, InOut, Unknown } from "../figures.tsx";
import { dateTime, dateTimeExact, duration, exact, plural } from "../format.ts";
import { hrefOf } from "../route.ts";
import { safeText } from "../safe-text.ts";
import { GROUP_NAMES } from "./names.ts";
import { Outcome } from "./outcome.tsx";

interface Props {
  readonly document: ChangesDocument;
  readonly sort: ChangeSort;
  /** Whether the sessions of each change are shown from the start. */
  readonly isOpen: boolean;
  /** Whether to add the work without a change, and the sum of all. */
  readonly hasSums: boolean;
  readonly onSort: (sort: ChangeSort) => void;
}

/** Changes with their figures; each one opens to the sessions behind it. */
export function ChangeTable({ document: { by, rows, without, total }, sort, isOpen, hasSums, onSort }: Props) {
  const largest = Math.max(1, ...rows.map(({ figures }) => figures.sums.costNanoUsd ?? 0));
  const sortable = (of: ChangeSort, title: string, isNumber: boolean) => (
    <th scope="col" class={isNumber ? "number" : undefined} aria-sort={sort === of ? "descending" : undefined}>
      <button type="button" class="sort" onClick={() => onSort(of)}>
        {title}
        {sort === of ? <span aria-hidden="true"> ▼</span> : null}
      </button>
    </th>
  );
  return (
    <div class="scroll">
      <table class="figures changes">
        <thead>
          <tr>
            <th scope="col">{GROUP_NAMES[by].title}</th>
            <th scope="col" class="share">
              <span class="sr">Share</span>
            </th>
            {sortable("cost", "Cost", true)}
            <th scope="col" class="number">
              Model time
            </th>
            <th scope="col" class="number">
              Tool time
            </th>
            <th scope="col" class="number">
              Tokens in → out
            </th>
            <th scope="col" class="number">
              Turns
            </th>
            <th scope="col">What became of it</th>
            {sortable("recent", "When", false)}
          </tr>
        </thead>
        {rows.map((row) => (
          <Change
            key={row.key}
            by={by}
            row={row}
            share={(row.figures.sums.costNanoUsd ?? 0) / largest}
            isOpen={isOpen}
          />
        ))}
        {hasSums ? (
          <tbody class="sums">
            {without === null ? null : <Sum name={`Without a known ${GROUP_NAMES[by].one}`} figures={without} />}
            {total === null ? null : <Sum name="All sessions" figures={total} isTotal />}
          </tbody>
        ) : null}
      </table>
    </div>
  );
}

// --- internal ---

const COLUMNS = 9;

function Change({ by, row, share, isOpen }: { by: ChangeGroup; row: ChangeRow; share: number; isOpen: boolean }) {
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
        <td class="share">
          <span class="meter" aria-hidden="true">
            {share > 0 ? <span style={{ width: `${share * 100}%` }} /> : null}
          </span>
        </td>
        <Figures figures={figures} />
        <td class="outcome" data-name="What became of it">
          <Outcome outcome={row.outcome} />
        </td>
        <td data-name="When" class="when">
          {timeMs === null ? (
            <Unknown />
          ) : (
            <time dateTime={new Date(timeMs).toISOString()} title={dateTimeExact(timeMs)}>
              {dateTime(timeMs)}
            </time>
          )}
        </td>
      </tr>
      {open ? (
        <tr class="behind">
          <td colSpan={COLUMNS}>
            <ul aria-label={`Sessions behind ${safeText(row.key)}`}>
              {sessions.map((part) => (
                <Session key={`${part.source}/${part.sessionId}`} part={part} />
              ))}
            </ul>
          </td>
        </tr>
      ) : null}
    </tbody>
  );
}

/** Digits of a commit that git accepts everywhere. */
const SHOWN_DIGITS = 10;

/** The name, as a link to the pull request if its address is known, and how certain it is that the sessions made it. */
function Name({ by, row: { key, url, certainty } }: { by: ChangeGroup; row: ChangeRow }) {
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

function Figures({ figures: { sums, turns, modelMs, toolMs } }: { figures: UsageFigures }) {
  return (
    <>
      <td class="number" data-name="Cost">
        <Cost nanoUsd={sums.costNanoUsd} isLowerBound={sums.costIsLowerBound} />
      </td>
      <td class="number" data-name="Model time">
        <Time ms={modelMs} />
      </td>
      <td class="number" data-name="Tool time">
        <Time ms={toolMs} />
      </td>
      <td class="number" data-name="Tokens">
        <InOut sums={sums} />
      </td>
      <td class="number" data-name="Turns">
        {turns === null ? <Unknown /> : exact(turns)}
      </td>
    </>
  );
}

const Time = ({ ms }: { ms: number | null }) => (ms === null ? <Unknown /> : duration(ms));

function Sum({ name, figures, isTotal = false }: { name: string; figures: UsageFigures; isTotal?: boolean }) {
  return (
    <tr class={isTotal ? "total" : undefined}>
      <th scope="row">{name}</th>
      <td class="share" />
      <Figures figures={figures} />
      <td class="outcome" />
      <td class="when" />
    </tr>
  );
}

/** The part of a session that led to the change. */
function Session({ part: { source, sessionId, agent, figures } }: { part: ChangePart }) {
  return (
    <li>
      <a href={hrefOf("session", { source, id: sessionId })}>
        {safeText(agent)} <span class="id">{safeText(sessionId)}</span>
      </a>
      <span>
        <Cost nanoUsd={figures.sums.costNanoUsd} isLowerBound={figures.sums.costIsLowerBound} />
        {figures.turns === null ? "" : ` · ${plural(figures.turns, "turn")}`}
        {figures.toolCalls === null ? "" : ` · ${plural(figures.toolCalls, "tool call")}`}
      </span>
    </li>
  );
}
