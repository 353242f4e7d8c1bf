import { offset } from "../format.ts";
import type { Tick } from "./axis.ts";

interface Props {
  readonly ticks: readonly Tick[];
  /** Shortened pauses, from and to, as shares of the visible part. */
  readonly bands: readonly (readonly [number, number])[];
}

/** Times above the bars. */
export function Scale({ ticks, bands }: Props) {
  return (
    <span class="scale" aria-hidden="true">
      <Bands bands={bands} />
      {ticks.map(({ at, ms, stepMs }) => (
        <span key={at} class="tick" style={{ left: `${at * 100}%` }}>
          {at > LAST_LABEL ? "" : offset(ms, stepMs)}
        </span>
      ))}
    </span>
  );
}

/** The same lines through all rows, without labels. */
export function Lines({ ticks, bands }: Props) {
  return (
    <div class="lines" aria-hidden="true">
      <span class="c-bar">
        <Bands bands={bands} />
        {ticks.map(({ at }) => (
          <span key={at} class="tick" style={{ left: `${at * 100}%` }} />
        ))}
      </span>
    </div>
  );
}

// --- internal ---

/** Further right there is no room for a label. */
const LAST_LABEL = 0.93;

function Bands({ bands }: Pick<Props, "bands">) {
  return (
    <>
      {bands.map(([from, to]) =>
        to <= 0 || from >= 1 ? null : (
          <span
            key={from}
            class="pause"
            title="Nothing went on here; drawn shorter than it was"
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
