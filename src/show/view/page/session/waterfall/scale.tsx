import { offset } from "../../text/format.ts";
import type { Pause, Tick } from "./axis.ts";

export interface ScaleProps {
  readonly ticks: readonly Tick[];
  /** Shortened pauses that are visible: start and end as shares of the viewport. */
  readonly pauses: readonly Pause[];
}

/** Times above the bars. */
export function Scale({ ticks, pauses }: ScaleProps) {
  return (
    <span class="scale" aria-hidden="true">
      <Pauses pauses={pauses} />
      {ticks.map(({ at, ms, stepMs }) => (
        <span key={at} class="tick" style={{ left: `${at * 100}%` }}>
          {at > LAST_LABEL ? "" : offset(ms, stepMs)}
        </span>
      ))}
    </span>
  );
}

/** The tick lines through all rows, without labels. */
export function Lines({ ticks, pauses }: ScaleProps) {
  return (
    <div class="lines" aria-hidden="true">
      <span class="c-bar">
        <Pauses pauses={pauses} />
        {ticks.map(({ at }) => (
          <span key={at} class="tick" style={{ left: `${at * 100}%` }} />
        ))}
      </span>
    </div>
  );
}

// --- internal ---

/** Further right a label would not fit. */
const LAST_LABEL = 0.93;

function Pauses({ pauses }: Pick<ScaleProps, "pauses">) {
  return (
    <>
      {pauses.map(({ startMs, from, to }) => (
        <span
          key={startMs}
          class="pause"
          title="No activity; drawn shorter than it was"
          style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
        />
      ))}
    </>
  );
}
