import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Panel } from "@grafana/grafana-foundation-sdk/dashboard";
import { dashboards } from "../../dashboards/src/index.ts";
import { type Chosen, interpolated } from "../dashboards/queries.ts";
import { type Answer, panelHtml } from "./render-panel.ts";

/**
 * Writes a page for each dashboard, in light and dark, with the results of its queries: shows real numbers without
 * Grafana, but not as Grafana draws them.
 *
 * @param folder created if missing
 * @param url of a Prometheus
 */
export async function screens(
  folder: string,
  url: string,
  range: { readonly fromMs: number; readonly toMs: number },
  chosen: Chosen = {},
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [name, dashboard] of Object.entries(dashboards())) {
    const parts: string[] = [];
    for (const panel of dashboard.panels ?? []) {
      const inner = "panels" in panel && panel.type === "row" ? (panel.panels ?? []) : [];
      for (const one of [panel as Panel, ...inner]) parts.push(panelHtml(one, await answers(url, one, range, chosen)));
    }
    for (const theme of ["light", "dark"] as const) {
      const title = dashboard.title ?? name;
      const html = `<!doctype html><meta charset="utf-8"><title>${title}</title><style>${STYLE}</style><body class="${theme}"><h1>${title}</h1><main>${parts.join("\n")}</main>`;
      writeFileSync(join(folder, `${name}-${theme}.html`), html);
    }
  }
}

// --- internal ---

/** Number of bars, or points of a line, in a chart. */
const STEPS = 48;

async function answers(
  url: string,
  panel: Panel,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  chosen: Chosen,
): Promise<readonly Answer[]> {
  if (panel.datasource?.type !== "prometheus") return [];
  const step = Math.max(15, Math.ceil((toMs - fromMs) / 1000 / STEPS));
  const found: Answer[] = [];
  for (const target of panel.targets ?? []) {
    const { refId, expr, instant, legendFormat } = target as unknown as Readonly<Record<string, unknown>>;
    const range = `${Math.ceil((toMs - fromMs) / 1000)}s`;
    const query = interpolated(String(expr), { ...chosen, range, interval: `${step}s` });
    const form =
      instant === true
        ? { query, time: String(toMs / 1000) }
        : { query, start: String(fromMs / 1000), end: String(toMs / 1000), step: String(step) };
    const path = instant === true ? "query" : "query_range";
    const response = await fetch(`${url}/api/v1/${path}`, { method: "POST", body: new URLSearchParams(form) });
    const { status, error, data } = (await response.json()) as QueryResponse;
    if (status !== "success") throw new Error(`${panel.title}, ${String(refId)}: ${error}: ${query}`);
    found.push({
      refId: String(refId),
      legend: String(legendFormat ?? ""),
      series: (data?.result ?? []).map(({ metric, value, values }) => ({
        labels: metric,
        points: (values ?? (value === undefined ? [] : [value])).map(([time, text]) => [time, Number(text)] as const),
      })),
    });
  }
  return found;
}

interface QueryResponse {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value?: readonly [number, string];
      readonly values?: readonly (readonly [number, string])[];
    }[];
  };
}

const STYLE = `
body{margin:12px;font:13px sans-serif} .light{background:#f4f5f5;color:#24292e} .dark{background:#111217;color:#ccccdc}
main{display:grid;grid-template-columns:repeat(24,1fr);grid-auto-rows:30px;gap:8px} h1{font-size:18px} h2{font-size:15px;margin:6px 0}
section{border:1px solid #8884;border-radius:3px;padding:6px 8px;overflow:hidden;display:flex;flex-direction:column} .light section{background:#fff} .dark section{background:#181b1f}
h3{font-size:13px;margin:0 0 4px;font-weight:600} .big{font-size:26px;font-weight:500;margin:auto;text-align:center} .scroll{overflow:auto}
table{border-collapse:collapse;width:100%;font-size:12px} th{text-align:left;border-bottom:1px solid #8886;font-weight:600} td{border-bottom:1px solid #8882;padding:2px 8px 2px 0} td.n{text-align:right;white-space:nowrap}
svg{flex:1;min-height:60px;width:100%} svg text{font-size:9px;fill:currentColor} .legend{font-size:11px;display:flex;flex-wrap:wrap;gap:2px 12px} .legend i{display:inline-block;width:9px;height:9px;margin-right:4px}
.bar{display:flex;gap:6px;align-items:center;margin:3px 0} .bar span{width:32%;overflow:hidden;white-space:nowrap;text-overflow:ellipsis} .bar i{background:#8f3bb8;height:14px;border-radius:2px}
code{font-size:11px;overflow:auto}`;
