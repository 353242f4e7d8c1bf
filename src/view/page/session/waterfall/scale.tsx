import { offset } from "../../format.ts";
import type { Tick } from "./axis.ts";

export interface ScaleProps {
  readonly ticks: readonly Tick[];
  /** Shortened pauses: start and end as shares of the viewport. */
  readonly pauses: readonly (readonly [number, number])[];
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
      {pauses.map(([from, to]) =>
        to <= 0 || from >= 1 ? null : (
          <span
            key={from}
            class="pause"
            title="No activity; drawn shorter than it was"
            style={{
              left: `${Math.max(0, from) * 100}%`,
              width: `${(Math.min(1, to) - Math.max(0, from)) * 100}%`,
            }}
          />
        ),
      )}
    </>
  );
}
