import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** The scrolling container of the waterfall's rows. */
export interface ScrollArea {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly barsRef: RefObject<HTMLSpanElement | null>;
  readonly rowPx: number;
  readonly barsWidth: number;
  /** Position of the bars' column on the screen, in pixels. */
  bars(): { readonly left: number; readonly width: number } | undefined;
  /** The first row to render and the one after the last: the visible ones and some around them. */
  range(rows: number): readonly [number, number];
  /** The first visible row and the one after the last. */
  inView(rows: number): readonly [number, number];
  pageRows(): number;
  /** Scrolls as little as needed to show a row. */
  reveal(row: number): void;
  readonly onScroll: () => void;
}

export function useScrollArea(): ScrollArea {
  const ref = useRef<HTMLDivElement>(null);
  const barsRef = useRef<HTMLSpanElement>(null);
  const [top, setTop] = useState(0);
  const [size, setSize] = useState({ height: 600, barsWidth: 400, rowPx: ROW_PX, headPx: HEAD_PX });
  const isFrameRequested = useRef(false);

  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const measure = (): void => {
      const style = getComputedStyle(element);
      const rowPx = Number.parseFloat(style.getPropertyValue("--row")) || ROW_PX;
      const headPx = Number.parseFloat(style.getPropertyValue("--row-head")) || HEAD_PX;
      const barsWidth = barsRef.current?.getBoundingClientRect().width ?? 0;
      setSize({ height: element.clientHeight, barsWidth, rowPx, headPx });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const { height, barsWidth, rowPx, headPx } = size;
  return {
    ref,
    barsRef,
    rowPx,
    barsWidth,
    bars() {
      const box = barsRef.current?.getBoundingClientRect();
      return box === undefined || box.width === 0 ? undefined : { left: box.left, width: box.width };
    },
    range(rows) {
      const first = Math.max(0, Math.floor(top / rowPx) - OVERSCAN_ROWS);
      return [Math.min(first, rows), Math.min(rows, Math.ceil((top + height) / rowPx) + OVERSCAN_ROWS)];
    },
    inView: (rows) => [
      Math.min(rows, Math.round(top / rowPx)),
      Math.min(rows, Math.ceil((top + height - headPx) / rowPx)),
    ],
    pageRows: () => Math.max(1, Math.floor((height - headPx) / rowPx) - 1),
    reveal(row) {
      const element = ref.current;
      if (element === null) return;
      const [from, to] = [row * rowPx, (row + 1) * rowPx];
      if (from < element.scrollTop) element.scrollTop = from;
      else if (to > element.scrollTop + height - headPx) element.scrollTop = to - height + headPx;
    },
    onScroll: () => {
      // Render once per frame, even if several events arrive
      if (isFrameRequested.current) return;
      isFrameRequested.current = true;
      requestAnimationFrame(() => {
        isFrameRequested.current = false;
        setTop(ref.current?.scrollTop ?? 0);
      });
    },
  };
}

// --- internal ---

const ROW_PX = 24;
const HEAD_PX = 24;
/** Rows to render above and below the visible ones, so that scrolling shows no gap. */
const OVERSCAN_ROWS = 8;
