import { useMemo } from "preact/hooks";
import { Check, Select } from "../../parts/fields.tsx";
import { exact, plural } from "../../text/format.ts";
import type { Spans } from "../spans.ts";
import type { Actions } from "./actions.ts";
import type { Rows } from "./use-rows.ts";
import type { TimeView } from "./use-time-view.ts";
import type { Order } from "./visible-rows.ts";
import { failedCount } from "./visible-rows.ts";

interface Props {
  readonly spans: Spans;
  readonly rows: Rows;
  readonly time: TimeView;
  readonly actions: Actions;
}

/** Search, filters and zoom of the waterfall. */
export function Toolbar({ spans, rows, time, actions }: Props) {
  return (
    <div class="toolbar">
      <Search rows={rows} actions={actions} />
      <p class="counted muted" role="status">
        {rows.visible.hits === undefined
          ? plural(spans.count, "span")
          : `${exact(rows.visible.hitCount)} of ${plural(spans.count, "span")}`}
      </p>
      <Failures spans={spans} actions={actions} />
      <Check name="Errors only" checked={rows.errorsOnly} onChange={rows.showErrorsOnly} />
      {time.hasLongPauses ? (
        <Check name="Shorten pauses" checked={time.shortensPauses} onChange={time.shortenPauses} />
      ) : null}
      <Select name="Order" value={rows.sortedBy} options={ORDERS} onChange={rows.sortBy} />
      <div class="group">
        <button type="button" aria-label="Expand all" title="Expand all rows" onClick={rows.expandAll}>
          Expand
        </button>
        <button type="button" aria-label="Turns only" title="Close all turns" onClick={rows.collapseTurns}>
          Turns
        </button>
      </div>
      <Zoom time={time} actions={actions} />
    </div>
  );
}

// --- internal ---

const ORDERS: readonly { readonly value: Order; readonly text: string }[] = [
  { value: "time", text: "by time" },
  { value: "cost", text: "by cost" },
  { value: "duration", text: "by duration" },
];

function Search({ rows, actions }: Pick<Props, "rows" | "actions">) {
  return (
    <label class="field search">
      <span class="sr">Search spans</span>
      <input
        type="search"
        placeholder="Search: prompt, file, failed …"
        title="Words of prompts, commands, paths, names, states (failed, denied, running) and attributes; Enter goes to the next match"
        value={rows.search}
        onInput={(event) => rows.searchFor(event.currentTarget.value.trim())}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          if (event.shiftKey) actions.previousMatch();
          else actions.nextMatch();
        }}
      />
    </label>
  );
}

function Failures({ spans, actions }: Pick<Props, "spans" | "actions">) {
  const failed = useMemo(() => failedCount(spans), [spans]);
  if (failed === 0) return null;
  return (
    <div class="group errors">
      <span class="error-count">{exact(failed)} failed</span>
      <button type="button" aria-label="Previous failed span" title="N" onClick={actions.previousFailed}>
        ↑
      </button>
      <button type="button" aria-label="Next failed span" title="n" onClick={actions.nextFailed}>
        ↓
      </button>
    </div>
  );
}

function Zoom({ time, actions }: Pick<Props, "time" | "actions">) {
  return (
    <div class="group">
      <button type="button" aria-label="Zoom in" onClick={actions.zoomIn}>
        +
      </button>
      <button type="button" aria-label="Zoom out" disabled={!time.isZoomed} onClick={actions.zoomOut}>
        −
      </button>
      <button
        type="button"
        aria-label="Fit rows"
        title="Zoom to the time range of the visible rows"
        onClick={actions.zoomToRows}
      >
        Fit
      </button>
      <button
        type="button"
        aria-label="Whole session"
        title="Zoom to the whole session"
        disabled={!time.isZoomed}
        onClick={actions.zoomToAll}
      >
        Whole
      </button>
    </div>
  );
}
