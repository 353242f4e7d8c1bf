import { type Dashboard, DashboardBuilder, RowBuilder } from "@grafana/grafana-foundation-sdk/dashboard";
import { siblings, TAG, UID } from "./links.ts";
import { bars, stat, UNIT } from "./panels.ts";
import { exactSum, LABEL } from "./promql.ts";
import { of } from "./select.ts";
import { jaegerSessions, tempoSessions, tempoSpans, trace } from "./traces.ts";
import { variable } from "./variables.ts";

/** From figures to the sessions behind them, and into their traces. */
export const sessionExplorer = (): Dashboard =>
  new DashboardBuilder("Coding agents: session explorer")
    .uid(UID.sessions)
    .description("Find a session and look into its trace, in Tempo or Jaeger. The other dashboards link to here.")
    .tags([TAG])
    .time({ from: "now-24h", to: "now" })
    .timezone("browser")
    .link(siblings())
    .variables([
      variable.datasource(),
      variable.tempo(),
      variable.jaeger(),
      variable.agent(),
      variable.environment(),
      variable.repository(),
      variable.session(),
      variable.trace(),
      variable.series(),
    ])
    .withRow(new RowBuilder("When"))
    .withPanel(
      bars({
        title: "Sessions that ended",
        description: "By agent, in each interval: drag over bars to narrow the time range of the lists below.",
        unit: UNIT.count,
        decimals: 0,
        width: 16,
        height: 7,
        queries: [{ expr: exactSum(of.sessions(), ["agent"], "$__interval"), legend: `{{${LABEL.agent}}}` }],
      }),
    )
    .withPanel(
      stat({
        title: "Sessions by metrics",
        description:
          "What the lists below should show together, as long as no trace was sampled away and no list is cut off.",
        unit: UNIT.count,
        width: 4,
        height: 7,
        expr: exactSum(of.sessions()),
      }),
    )
    .withPanel(
      stat({
        title: "Ended without a word",
        description: "Sessions that nothing was heard of any more: killed, or left open (reason timeout).",
        unit: UNIT.count,
        width: 4,
        height: 7,
        expr: `${exactSum(of.sessions(`${LABEL.endReason}="timeout"`))} or 0 * ${exactSum(of.sessions())}`,
      }),
    )
    .withRow(new RowBuilder("Tempo"))
    .withPanel(tempoSessions())
    .withPanel(tempoSpans())
    .withPanel(trace("tempo"))
    .withRow(
      new RowBuilder("Jaeger (open it if your traces are there)")
        .collapsed(true)
        .withPanel(jaegerSessions())
        .withPanel(trace("jaeger")),
    )
    .build();
