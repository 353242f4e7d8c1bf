import { stringify } from "yaml";
import { alertGroups } from "./alerts.ts";
import { recordingGroups } from "./recording.ts";
import type { Alert, Group } from "./rules.ts";
import { wrapped } from "./wrapped.ts";

/** The rule files as Prometheus reads them, and the alerts as Grafana provisions them. Path below dashboards/ → text. */
export const ruleFiles = (): Readonly<Record<string, string>> => ({
  "rules/recording.yaml": prometheus(recordingGroups(), (rule) => rule),
  "rules/alerts.yaml": prometheus(alertGroups(), prometheusAlert),
  "grafana-alerting/alerts.yaml": grafana(alertGroups()),
});

// --- internal ---

const MADE = "# Written by scripts/dashboards.mjs from dashboards/src: change it there.\n";

function prometheus<Rule>(groups: readonly Group<Rule>[], toRule: (rule: Rule) => object): string {
  const written = groups.map(({ name, interval, remark, rules }) =>
    commented(remark, [{ name, interval, rules: rules.map(toRule) }]),
  );
  return `${MADE}groups:\n${written.join("\n")}`;
}

function commented(remark: string, groups: readonly object[]): string {
  const lines = stringify(groups, YAML).trimEnd().split("\n");
  return `${[...wrapped(remark, 111).map((line) => `# ${line}`), ...lines].map((line) => `  ${line}`.trimEnd()).join("\n")}\n`;
}

const prometheusAlert = (rule: Alert): object => ({
  alert: rule.alert,
  expr: rule.expr,
  for: rule.for,
  labels: labelsOf(rule),
  annotations: annotationsOf(rule),
});

const labelsOf = ({ severity }: Alert): object => ({ severity, service: "openhook-otel" });
const annotationsOf = ({ alert, summary, description, dashboard }: Alert): Readonly<Record<string, string>> => ({
  summary,
  description,
  dashboard: `/d/${dashboard}`,
  runbook_url: `docs/alerts.md#${alert.toLowerCase()}`,
});

/** An expression returns series only where it fires, so any number fires; no data does not. */
function grafana(groups: readonly Group<Alert>[]): string {
  const written = {
    apiVersion: 1,
    groups: groups.map(({ name, interval, rules }) => ({
      orgId: 1,
      name,
      folder: "openhook-otel",
      interval,
      rules: rules.map((rule) => ({
        uid: rule.alert.replaceAll(/(?<!^)([A-Z])/g, "-$1").toLowerCase(),
        title: rule.alert,
        condition: "B",
        for: rule.for,
        data: [query(rule.expr), someNumber],
        noDataState: "OK",
        execErrState: "Error",
        labels: labelsOf(rule),
        annotations: inGrafana(annotationsOf(rule)),
      })),
    })),
  };
  return `${MADE}# The same alerts as rules/alerts.yaml. Use one of the two. Both need rules/recording.yaml in Prometheus.\n${stringify(written, YAML)}`;
}

const query = (expr: string): object => ({
  refId: "A",
  relativeTimeRange: { from: 600, to: 0 },
  datasourceUid: "prometheus",
  model: { refId: "A", expr, instant: true, range: false, editorMode: "code" },
});

const someNumber = {
  refId: "B",
  relativeTimeRange: { from: 600, to: 0 },
  datasourceUid: "__expr__",
  model: { refId: "B", type: "math", expression: "is_number($A)", datasource: { type: "__expr__", uid: "__expr__" } },
};

/** Grafana's `$value` is a text with all labels; the number is in query A. */
const inGrafana = (annotations: Readonly<Record<string, string>>): object =>
  Object.fromEntries(
    Object.entries(annotations).map(([name, text]) => [name, text.replaceAll("{{ $value ", "{{ $values.A.Value ")]),
  );

const YAML = { lineWidth: 0, aliasDuplicateObjects: false } as const;
