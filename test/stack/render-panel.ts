import type { Panel } from "@grafana/grafana-foundation-sdk/dashboard";
import { formatted } from "./render-format.ts";

/** The result of a panel's query. */
export interface Answer {
  readonly refId: string;
  readonly legend: string;
  readonly series: readonly {
    readonly labels: Readonly<Record<string, string>>;
    /** Seconds and value; one point for an instant query. */
    readonly points: readonly (readonly [number, number])[];
  }[];
}

/** A panel with its results as HTML: the numbers, units, thresholds and texts that Grafana shows, in plain shapes. */
export function panelHtml(panel: Panel, answers: readonly Answer[]): string {
  const { x = 0, y = 0, w = 24, h = 8 } = panel.gridPos ?? {};
  const place = `grid-column:${x + 1}/span ${w};grid-row:${y + 1}/span ${h}`;
  if (panel.type === "row") return `<h2 style="${place}">${html(panel.title ?? "")}</h2>`;
  const empty = answers.every(({ series }) => series.length === 0);
  const noValue = panel.fieldConfig?.defaults.noValue ?? "No data";
  const body =
    panel.datasource?.type !== "prometheus"
      ? `<p>From ${panel.datasource?.type === "jaeger" ? "Jaeger" : "Tempo"}, not drawn here. ${html(panel.description ?? "")}</p>`
      : empty
        ? `<b class="big" style="font-size:15px">${html(noValue)}</b>`
        : shape(panel, answers);
  return `<section style="${place}"><h3 title="${html(panel.description ?? "")}">${html(panel.title ?? "")}</h3>${body}</section>`;
}

// --- internal ---

const PALETTE = [
  "#73bf69",
  "#f2cc0c",
  "#8ab8ff",
  "#ff780a",
  "#f2495c",
  "#5794f2",
  "#b877d9",
  "#705da0",
  "#37872d",
  "#fade2a",
];

function shape(panel: Panel, answers: readonly Answer[]): string {
  switch (panel.type) {
    case "stat":
      return statHtml(panel, answers);
    case "table":
      return tableHtml(panel, answers);
    case "bargauge":
      return rankingHtml(panel, answers);
    default:
      return chartSvg(panel, answers);
  }
}

function statHtml(panel: Panel, answers: readonly Answer[]): string {
  const value = answers[0]?.series[0]?.points.at(-1)?.[1] ?? Number.NaN;
  const { unit = "none", decimals, thresholds } = panel.fieldConfig?.defaults ?? {};
  const { legend = "", series = [] } = answers[0] ?? {};
  const name = legend.includes("{{") ? `<small>${html(named(legend, series[0]?.labels ?? {}))}</small> ` : "";
  return `<b class="big" style="color:${colourOf(value, thresholds?.steps)}">${name}${formatted(value, unit, decimals)}</b>`;
}

function tableHtml(panel: Panel, answers: readonly Answer[]): string {
  if (panel.transformations?.some(({ id }) => id === "groupingToMatrix")) return matrixHtml(panel, answers);
  const options = panel.transformations?.find(({ id }) => id === "organize")?.options as {
    readonly renameByName: Readonly<Record<string, string>>;
    readonly indexByName: Readonly<Record<string, number>>;
  };
  const columns = Object.entries(options.indexByName)
    .sort(([, a], [, b]) => a - b)
    .map(([name]) => name);
  const keys = columns.filter((name) => !name.startsWith("Value #"));
  const rows = new Map<string, Map<string, string | number>>();
  for (const { refId, series } of answers) {
    for (const { labels, points } of series) {
      const key = JSON.stringify(keys.map((name) => labels[name] ?? ""));
      const row = rows.get(key) ?? new Map(keys.map((name) => [name, labels[name] ?? ""]));
      row.set(`Value #${refId}`, points.at(-1)?.[1] ?? Number.NaN);
      rows.set(key, row);
    }
  }
  const title = (name: string): string => options.renameByName[name] ?? name;
  const sortBy = (panel.options as { sortBy?: readonly { displayName?: string }[] }).sortBy?.[0]?.displayName;
  const sortColumn = columns.find((name) => title(name) === sortBy) ?? "";
  const size = (row: ReadonlyMap<string, string | number>): number =>
    Number(row.get(sortColumn) ?? Number.NEGATIVE_INFINITY);
  const sorted = [...rows.values()].sort((a, b) => size(b) - size(a));
  const cell = (row: ReadonlyMap<string, string | number>, name: string): string => {
    const value = row.get(name);
    const property = (id: string): unknown =>
      panel.fieldConfig?.overrides
        .find(({ matcher }) => matcher.options === title(name))
        ?.properties.find((p) => p.id === id)?.value;
    if (typeof value === "string") return `<td>${html(value)}</td>`;
    if (value === undefined || Number.isNaN(value))
      return `<td class="n">${String(property("noValue") ?? panel.fieldConfig?.defaults.noValue)}</td>`;
    const steps = (property("thresholds") as { steps?: readonly StepLike[] } | undefined)?.steps;
    const text = formatted(value, String(property("unit") ?? "none"), property("decimals") as number | undefined);
    return `<td class="n" style="color:${colourOf(value, steps)}">${text}</td>`;
  };
  const head = columns.map((name) => `<th>${html(title(name))}</th>`).join("");
  const body = sorted.map((row) => `<tr>${columns.map((name) => cell(row, name)).join("")}</tr>`).join("");
  return `<div class="scroll"><table><tr>${head}</tr>${body}</table></div>`;
}

/** Rows by one label, columns by another, and the texts of the values. */
function matrixHtml(panel: Panel, [answer]: readonly Answer[]): string {
  const organize = panel.transformations?.find(({ id }) => id === "organize")?.options as Organized | undefined;
  const [rowLabel = "", columnLabel = ""] = Object.keys(organize?.indexByName ?? {});
  const series = answer?.series ?? [];
  const valuesOf = (label: string): string[] => [...new Set(series.map(({ labels }) => labels[label] ?? ""))].sort();
  const columns = valuesOf(columnLabel);
  const { mappings = [], noValue = "" } = panel.fieldConfig?.defaults ?? {};
  const texts = (mappings[0] as unknown as Mapped | undefined)?.options;
  const cell = (row: string, column: string): string => {
    const found = series.find(({ labels }) => labels[rowLabel] === row && labels[columnLabel] === column);
    const { text, color } = texts?.[String(found?.points.at(-1)?.[1])] ?? { text: noValue, color: "inherit" };
    return `<td style="color:${color}">${html(text)}</td>`;
  };
  const head = columns.map((name) => `<th>${html(name)}</th>`).join("");
  const body = valuesOf(rowLabel).map(
    (row) => `<tr><td>${html(row)}</td>${columns.map((column) => cell(row, column)).join("")}</tr>`,
  );
  return `<div class="scroll"><table><tr><th></th>${head}</tr>${body.join("")}</table></div>`;
}

interface Organized {
  readonly indexByName: Readonly<Record<string, number>>;
}
interface Mapped {
  readonly options: Readonly<Record<string, { readonly text: string; readonly color: string }>>;
}

function rankingHtml(panel: Panel, answers: readonly Answer[]): string {
  const bars = answers.flatMap(({ legend, series }) =>
    series.map(({ labels, points }) => ({ name: named(legend, labels), value: points.at(-1)?.[1] ?? 0 })),
  );
  const most = Math.max(...bars.map(({ value }) => value), 1e-9);
  const { unit = "none", decimals } = panel.fieldConfig?.defaults ?? {};
  return `<div class="scroll">${bars
    .map(
      ({ name, value }) =>
        `<div class="bar"><span>${html(name)}</span><i style="width:${(value / most) * 60}%"></i>${formatted(value, unit, decimals)}</div>`,
    )
    .join("")}</div>`;
}

function chartSvg(panel: Panel, answers: readonly Answer[]): string {
  const custom = panel.fieldConfig?.defaults.custom as { drawStyle?: string; stacking?: { mode?: string } } | undefined;
  const isBars = custom?.drawStyle === "bars";
  const all = answers.flatMap(({ legend, series }) =>
    series.map((one) => ({ name: named(legend, one.labels), points: one.points })),
  );
  const times = [...new Set(all.flatMap(({ points }) => points.map(([time]) => time)))].sort((a, b) => a - b);
  const [from = 0, to = 1] = [times[0], times.at(-1)];
  const stacked = new Map<number, number>();
  const tops = times.map((time) =>
    all.reduce((top, { points }) => top + (points.find(([t]) => t === time)?.[1] ?? 0), 0),
  );
  const most = Math.max(
    ...(isBars ? tops : all.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite)),
    1e-9,
  );
  const x = (time: number): number => 50 + ((time - from) / (to - from || 1)) * 540;
  const y = (value: number): number => 150 - (value / most) * 140;
  const { unit = "none", decimals } = panel.fieldConfig?.defaults ?? {};
  const shapes = all.map(({ points }, index) => {
    const colour = PALETTE[index % PALETTE.length] ?? "gray";
    if (!isBars) {
      const line = points
        .filter(([, value]) => Number.isFinite(value))
        .map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`);
      return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${line.join(" ")}"/>`;
    }
    return points
      .map(([time, value]) => {
        const below = stacked.get(time) ?? 0;
        stacked.set(time, below + value);
        const height = y(below) - y(below + value);
        return `<rect x="${x(time) - 3}" width="6" y="${y(below + value)}" height="${Math.max(0, height)}" fill="${colour}"/>`;
      })
      .join("");
  });
  const axis = [0, 0.5, 1].map(
    (part) =>
      `<text x="46" y="${y(most * part) + 4}" text-anchor="end">${formatted(most * part, unit, decimals)}</text>`,
  );
  const legend = all.map(({ name, points }, index) => {
    const figure = isBars ? points.reduce((sum, [, value]) => sum + value, 0) : (points.at(-1)?.[1] ?? Number.NaN);
    return `<span><i style="background:${PALETTE[index % PALETTE.length]}"></i>${html(name)} <b>${formatted(figure, unit, decimals)}</b></span>`;
  });
  return `<svg viewBox="0 0 600 160">${axis.join("")}${shapes.join("")}</svg><div class="legend">${legend.join("")}</div>`;
}

interface StepLike {
  readonly color: string;
  readonly value: number | null;
}

const colourOf = (value: number, steps: readonly StepLike[] = []): string =>
  steps.findLast((step) => step.value === null || value >= step.value)?.color.replace("text", "inherit") ?? "inherit";

const named = (legend: string, labels: Readonly<Record<string, string>>): string =>
  legend.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => labels[name] ?? "") || "(none)";

const html = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
