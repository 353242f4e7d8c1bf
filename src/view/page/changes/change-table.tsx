import { useState } from "preact/hooks";
import type { ChangeDimension, ChangePart, ChangeRow, ChangeSort, ChangesDocument } from "../../wire/changes.ts";
import type { UsageFigures } from "../../wire/figures.ts";
import { Cost, InOut, Time, Unknown } from "../figures/figures.tsx";
import { Head, NumberCell, ShareCell, ShareHead, type Sorting } from "../figures/table.tsx";
import { hrefOf } from "../route.ts";
import { capitalised, duration, exact, plural } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
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
  const sortingBy = (by: ChangeSort): Sorting => ({
    direction: sort === by ? "descending" : undefined,
    onSort: () => onSort(by),
  });
  return (
    <div class="scroll">
      <table class="figures changes">
        <thead>
          <tr>
            <Head>{capitalised(by)}</Head>
            <ShareHead />
            <Head isNumber sorting={sortingBy("cost")}>
              Cost
            </Head>
            <Head isNumber>Model time</Head>
            <Head isNumber>Tool time</Head>
            <Head isNumber>Tokens in → out</Head>
            <Head isNumber>Turns</Head>
            <Head>What became of it</Head>
            <Head sorting={sortingBy("recent")}>When</Head>
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
            {without === null ? null : <Sum name={`Without a known ${by}`} figures={without} />}
            {total === null ? null : <Sum name="All sessions" figures={total} isTotal />}
          </tbody>
        ) : null}
      </table>
    </div>
  );
}

// --- internal ---

const COLUMNS = 9;

function Change({ by, row, share, isOpen }: { by: ChangeDimension; row: ChangeRow; share: number; isOpen: boolean }) {
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
        <Figures figures={figures} />
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

function Figures({ figures: { sums, turns, modelMs, toolMs } }: { figures: UsageFigures }) {
  return (
    <>
      <NumberCell name="Cost">
        <Cost of={sums} />
      </NumberCell>
      <NumberCell name="Model time">{modelMs === null ? <Unknown /> : duration(modelMs)}</NumberCell>
      <NumberCell name="Tool time">{toolMs === null ? <Unknown /> : duration(toolMs)}</NumberCell>
      <NumberCell name="Tokens">
        <InOut of={sums} />
      </NumberCell>
      <NumberCell name="Turns">{turns === null ? <Unknown /> : exact(turns)}</NumberCell>
    </>
  );
}

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
        <Cost of={figures.sums} />
        {figures.turns === null ? "" : ` · ${plural(figures.turns, "turn")}`}
        {figures.toolCalls === null ? "" : ` · ${plural(figures.toolCalls, "tool call")}`}
      </span>
    </li>
  );
}
