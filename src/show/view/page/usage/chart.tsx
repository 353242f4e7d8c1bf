import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { useColourScheme } from "../hooks.ts";
import { bucketName } from "../text/format.ts";
import { safeText } from "../text/safe-text.ts";
import { HEIGHT_PX, plotData, plotOptions } from "./chart-options.ts";
import type { Series } from "./series.ts";

interface Props {
  readonly title: string;
  readonly buckets: readonly string[];
  readonly series: readonly Series[];
  readonly format: (n: number) => string;
  /** Formats a tick of the axis, `step` away from the next one. @default as `format` */
  readonly formatTick?: (n: number, step: number) => string;
  /** Where a bucket leads. */
  readonly hrefOfBucket: (bucket: string) => string;
}

/** Stacked bars. Hidden from screen readers, because the tables below contain the same figures and links. */
export function Chart({ title, buckets, series, format, formatTick = format, hrefOfBucket }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const scheme = useColourScheme();

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const plot = new uPlot(
      plotOptions(element, buckets, series, formatTick, setHovered),
      plotData(buckets, series),
      element,
    );
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    observer.observe(element);
    const open = (): void => {
      const bucket = buckets[plot.cursor.idx ?? -1];
      if (bucket !== undefined) location.hash = hrefOfBucket(bucket);
    };
    plot.over.addEventListener("click", open);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [buckets, series, scheme]);

  const at = hovered ?? -1;
  const isEmpty = series.every(({ values }) => values.every((value) => value === 0));
  return (
    <figure class="chart">
      <figcaption>
        <span class="title">{title}</span>
        <span class="muted">{at < 0 ? "" : bucketName(buckets[at] ?? "")}</span>
      </figcaption>
      <div ref={place} aria-hidden="true" />
      {isEmpty ? <p class="no-rows">No data in this period.</p> : null}
      <ul class="legend" aria-label={`Colours of ${title}`}>
        {series.map(({ name, colour, values }) => (
          <li key={name}>
            <span class="dot" aria-hidden="true" style={{ background: `var(${colour})` }} />
            {safeText(name)}
            <b>{at < 0 ? "" : format(values[at] ?? 0)}</b>
          </li>
        ))}
      </ul>
    </figure>
  );
}
