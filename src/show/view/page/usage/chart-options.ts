import uPlot from "uplot";
import { bucketLabel } from "../text/format.ts";
import type { Series } from "./series.ts";

export const HEIGHT_PX = 220;

/** Tallest series first, so that the others are drawn over it. */
export const plotData = (buckets: readonly string[], series: readonly Series[]): uPlot.AlignedData => [
  buckets.map((_, i) => i),
  ...[...stacked(series)].reverse(),
];

/** How uPlot draws the bars, in the colours of the style sheet. */
export function plotOptions(
  element: HTMLElement,
  buckets: readonly string[],
  series: readonly Series[],
  formatTick: (n: number, step: number) => string,
  onHover: (index: number | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = { stroke: colour("--muted"), font: `12px ${style.fontFamily}`, ticks: { show: false } };
  const bars = uPlot.paths.bars?.({ size: [0.8, 48], radius: 0.08 });
  return {
    width: Math.max(200, element.clientWidth),
    height: HEIGHT_PX,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { x: true, y: false, points: { show: false }, drag: { x: false, y: false }, sync: { key: "usage" } },
    scales: {
      x: { time: false, range: [-0.6, buckets.length - 0.4] },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] },
    },
    axes: [
      {
        ...axis,
        size: buckets.some((bucket) => dayOfHour(bucket) !== undefined) ? 44 : 28,
        grid: { show: false },
        splits: (plot) => labelledBuckets(buckets.length, plot.width),
        values: (_, splits) => axisLabels(splits.map((i) => buckets[i] ?? "")),
      },
      {
        ...axis,
        size: 64,
        grid: { stroke: colour("--line"), width: 1 },
        values: (_, splits) =>
          splits.map((value) => (value === 0 ? "0" : formatTick(value, (splits[1] ?? value) - (splits[0] ?? 0)))),
      },
    ],
    series: [
      {},
      ...[...series].reverse().map(
        (one): uPlot.Series => ({
          label: one.name,
          fill: colour(one.colour),
          width: 0,
          points: { show: false },
          ...(bars !== undefined && { paths: bars }),
        }),
      ),
    ],
    hooks: { setCursor: [(plot) => onHover(plot.cursor.idx ?? undefined)] },
  };
}

// --- internal ---

/** Each series added to the ones before it. */
function stacked(series: readonly Series[]): readonly number[][] {
  const sums = new Array<number>(series[0]?.values.length ?? 0).fill(0);
  return series.map(({ values }) =>
    sums.map((sum, i) => {
      sums[i] = sum + (values[i] ?? 0);
      return sums[i] ?? 0;
    }),
  );
}

/** Indexes of the buckets with a label, so that labels do not overlap. */
function labelledBuckets(length: number, width: number): number[] {
  const step = Math.max(1, Math.ceil(length / Math.max(1, Math.floor((width - 80) / LABEL_PX))));
  return Array.from({ length: Math.ceil(length / step) }, (_, i) => i * step);
}

const LABEL_PX = 62;

/** Hours, with the day below where it begins or changes. */
const axisLabels = (buckets: readonly string[]): string[] =>
  buckets.map((bucket, i) => {
    const day = dayOfHour(bucket);
    return day === undefined || day === dayOfHour(buckets[i - 1] ?? "")
      ? bucketLabel(bucket)
      : `${bucketLabel(bucket)}\n${bucketLabel(day)}`;
  });

const dayOfHour = (bucket: string): string | undefined => /^(.+)T\d\d:00/.exec(bucket)?.[1];
