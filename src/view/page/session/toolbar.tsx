import { exact, plural } from "../format.ts";
import { KEY_HELP } from "./keys.ts";
import type { Spans } from "./spans.ts";
import type { Visible } from "./visible.ts";

interface Props {
  readonly spans: Spans;
  readonly visible: Visible;
  readonly search: string;
  readonly onSearch: (text: string) => void;
  readonly errorsOnly: boolean;
  readonly onErrorsOnly: (only: boolean) => void;
  readonly onExpand: () => void;
  readonly onCollapse: () => void;
  readonly canShorten: boolean;
  readonly shorten: boolean;
  readonly onShorten: (shorten: boolean) => void;
  readonly isZoomed: boolean;
  readonly onZoom: (factor: number) => void;
  readonly onFit: () => void;
  readonly onWhole: () => void;
}

/** Search, filters and zoom of the waterfall. */
export function Toolbar(props: Props) {
  const { spans, visible, search, errorsOnly } = props;
  return (
    <div class="toolbar">
      <label class="field search">
        <span class="sr">Search spans</span>
        <input
          type="search"
          placeholder="Search tools, models, errors"
          value={search}
          onInput={(event) => props.onSearch(event.currentTarget.value.trim())}
        />
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={errorsOnly}
          onChange={(event) => props.onErrorsOnly(event.currentTarget.checked)}
        />
        Errors only
      </label>
      {props.canShorten ? (
        <label class="check">
          <input
            type="checkbox"
            checked={props.shorten}
            onChange={(event) => props.onShorten(event.currentTarget.checked)}
          />
          Shorten pauses
        </label>
      ) : null}
      <div class="group">
        <button type="button" onClick={props.onExpand}>
          Expand all
        </button>
        <button type="button" onClick={props.onCollapse}>
          Turns only
        </button>
      </div>
      <div class="group">
        <button type="button" aria-label="Zoom in" onClick={() => props.onZoom(1 / 1.6)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" disabled={!props.isZoomed} onClick={() => props.onZoom(1.6)}>
          −
        </button>
        <button type="button" title="Zoom to the time range of the visible rows" onClick={props.onFit}>
          Fit rows
        </button>
        <button type="button" disabled={!props.isZoomed} onClick={props.onWhole}>
          Whole session
        </button>
      </div>
      <p class="counted muted" role="status">
        {visible.hits === undefined
          ? plural(spans.count, "span")
          : `${exact(visible.hitCount)} of ${plural(spans.count, "span")}`}
      </p>
      <details class="keys">
        <summary>Keys</summary>
        <dl>
          {KEY_HELP.map(([keys, does]) => (
            <div key={keys}>
              <dt>{keys}</dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  );
}
