import { type Dashboard, RowBuilder } from "@grafana/grafana-foundation-sdk/dashboard";
import { dashboardOf } from "./dashboard.ts";
import { UID } from "./links.ts";
import { bars, stat, UNIT } from "./panels.ts";
import { exactSum, LABEL } from "./promql.ts";
import { of } from "./select.ts";
import { jaegerSessions, tempoSessions, tempoSpans, trace } from "./traces.ts";
import { variable } from "./variables.ts";

/** Lists the sessions behind the figures, and their traces. */
export const sessionExplorer = (): Dashboard =>
  dashboardOf({
    title: "session explorer",
    uid: UID.sessions,
    description: "Find a session and open its trace, in Tempo or Jaeger. The other dashboards link here.",
    variables: [
      variable.datasource(),
      variable.tempo(),
      variable.jaeger(),
      variable.agent(),
      variable.environment(),
      variable.repository(),
      variable.tool(),
      variable.session(),
      variable.trace(),
      variable.series(),
    ],
  })
    .withRow(new RowBuilder("When"))
    .withPanel(
      bars({
        title: "Ended sessions",
        description: "By agent and interval. Drag over bars to narrow the time range of the lists below.",
        todo: "Then choose a session in the list.",
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
          "The number of sessions that the lists below show, unless traces were sampled out or a list is truncated.",
        todo: "If the lists are much shorter, narrow the time range, or check the sampling at the gateway.",
        unit: UNIT.count,
        width: 4,
        height: 7,
        expr: exactSum(of.sessions()),
      }),
    )
    .withPanel(
      stat({
        title: "Ended by timeout",
        description: "Sessions that went idle without an end: killed, or left open (reason timeout).",
        todo: "Open some of them: the last span shows where they stopped.",
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
