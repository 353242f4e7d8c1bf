import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { SETTINGS } from "#config/settings.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { alertGroups } from "../../dashboards/src/alerts.ts";
import { FLEET } from "../../dashboards/src/fleet.ts";
import { dashboards, generatedFiles } from "../../dashboards/src/index.ts";
import { allPromNames, promLabel } from "../../dashboards/src/names.ts";
import { LABEL, recorded } from "../../dashboards/src/promql.ts";
import { recordingGroups } from "../../dashboards/src/recording.ts";
import { parsed } from "./promql.ts";
import { allQueries, interpolated, panelsByDashboard } from "./queries.ts";

const queries = allQueries().filter(({ language }) => language === "promql");
const recordings = recordingGroups().flatMap(({ rules }) => rules);
const alerts = alertGroups().flatMap(({ rules }) => rules);

/** Everything with a name that an expression may use. */
const METRICS = new Set([
  ...allPromNames(),
  ...recordings.map(({ record }) => record),
  "openhook:budget_usd",
  // Of the resource: made by the Collector's exporter and by Prometheus' OTLP endpoint
  "target_info",
]);
const LABELS = new Set([
  ...Object.values(semconv).flatMap((name) => (typeof name === "string" ? [promLabel(name)] : [])),
  ...[
    "deployment_environment_name",
    "instance",
    "job",
    "le",
    "user_hash",
    "user_email",
    "user_name",
    "budget",
    "team",
    "measure",
    "part",
  ],
]);

/** Dotted names in descriptions that are no settings and no attributes of ours. */
const OTHERS = ["budgets.yaml", "otel.metric.overflow"];

describe.each(queries.map((query) => [`${query.dashboard}: ${query.panel.title} ${query.refId}`, query] as const))(
  "%s",
  (_, { text }) => {
    test.each([
      ["each machine", "_"],
      ["recorded", ":"],
    ] as const)("%s", (__, series) => {
      const { errors, metrics, labels } = parsed(interpolated(text, { series }));
      expect(errors).toEqual([]);
      expect(metrics.length).toBeGreaterThan(0);
      expect(metrics.filter((metric) => !METRICS.has(metric))).toEqual([]);
      expect(labels.filter((label) => !LABELS.has(label))).toEqual([]);
    });
  },
);

test("three dashboards mark new agent versions, models and prices, with names that exist", () => {
  const marked = Object.values(dashboards()).map(({ annotations }) => annotations?.list ?? []);
  expect(marked.map(({ length }) => length).filter((length) => length > 0)).toEqual([3, 3, 3]);
  for (const mark of marked.flat() as unknown as readonly Readonly<Record<string, string>>[]) {
    const { errors, metrics, labels } = parsed(interpolated(mark["expr"] ?? ""));
    expect(errors).toEqual([]);
    expect(metrics.filter((metric) => !METRICS.has(metric))).toEqual([]);
    expect(labels.filter((label) => !LABELS.has(label))).toEqual([]);
    for (const [, label = ""] of mark["titleFormat"]?.matchAll(/\{\{(\w+)\}\}/g) ?? []) expect(labels).toContain(label);
  }
});

test("invalid expressions are detected", () => {
  expect(parsed("sum by (a (b)").errors).not.toEqual([]);
  expect(parsed('sum by (service_name) (x{y="z"})')).toEqual({
    errors: [],
    metrics: ["x"],
    labels: ["service_name", "y"],
  });
});

test("trace queries use attributes that spans have", () => {
  const known = new Set<string>([
    ...Object.values(semconv).flatMap((value) => (typeof value === "string" ? [value] : Object.values(value))),
    "deployment.environment.name",
  ]);
  const traces = allQueries().filter(({ language }) => language !== "promql");
  expect(traces.length).toBeGreaterThan(5);
  for (const { panel, text } of traces) {
    for (const [, attribute = ""] of text.matchAll(/(?<![\w.])(?:span|resource)\.([a-z_.]+)/g)) {
      expect(known.has(attribute), `${panel.title}: ${attribute}`).toBe(true);
    }
  }
});

describe("rules", () => {
  test.each([
    ...recordings.map(({ record, expr }) => [record, expr]),
    ...alerts.map(({ alert, expr }) => [alert, expr]),
  ])("%s", (_, expr = "") => {
    const { errors, metrics, labels } = parsed(expr);
    expect(errors).toEqual([]);
    expect(metrics.filter((metric) => !METRICS.has(metric))).toEqual([]);
    expect(labels.filter((label) => !LABELS.has(label))).toEqual([]);
  });

  test("every recorded metric in a dashboard or alert has a recording rule, with all labels in use", () => {
    const kept = new Map(
      FLEET.map(({ metric, part, by }) => [
        recorded(metric, part),
        new Set<string>(
          ["environment", "agent", ...by].map((key) => (key === "le" ? key : LABEL[key as keyof typeof LABEL])),
        ),
      ]),
    );
    const texts = [
      ...queries.map(({ text }) => interpolated(text, { series: ":" })),
      ...alerts.map(({ expr }) => expr),
    ];
    for (const text of texts) {
      for (const [, metric = "", matchers = ""] of text.matchAll(/\b((?:openhook|gen_ai):[A-Za-z0-9_]+)\{([^}]*)\}/g)) {
        const labels = kept.get(metric);
        if (labels === undefined) continue;
        for (const [, label = ""] of matchers.matchAll(/([A-Za-z_]+)(?:=~|=|!=|!~)/g)) {
          expect(labels.has(label), `${metric} keeps ${label}`).toBe(true);
        }
      }
    }
  });

  test("metrics in annotations exist", () => {
    const uids = Object.values(dashboards()).map(({ uid }) => uid);
    for (const { alert, expr, summary, description, dashboard } of alerts) {
      expect(uids).toContain(dashboard);
      expect(description.length, `${alert} says what to do`).toBeGreaterThan(80);
      for (const [whole, words = ""] of `${summary} ${description}`.matchAll(/\{\{ (.+?) \}\}/g)) {
        const label = /^\$labels\.(\w+)$/.exec(words)?.[1];
        if (label === undefined) {
          expect(words, alert).toMatch(/^\$value \| (humanize|humanizePercentage|humanizeDuration)$/);
        } else {
          expect(LABELS.has(label), `${alert}: ${whole}`).toBe(true);
          const comes =
            expr.includes(label) ||
            recordings.some(({ record, expr: made }) => expr.includes(record) && made.includes(label));
          expect(comes, `${alert}: ${whole} is in what it is about`).toBe(true);
        }
      }
    }
  });

  test("settings in descriptions exist", () => {
    const panels = [...panelsByDashboard().values()].flat().map(({ description = "" }) => description);
    const texts = [...panels, ...alerts.map(({ description }) => description)];
    const named = texts.flatMap((text) => text.match(/(?<![\w.$/])[a-z]+(?:\.[a-z]\w*)+(?!\w)/gi) ?? []);
    const known = new Set<string>([
      ...SETTINGS.map(({ key }) => key),
      ...Object.values(semconv).map(String),
      ...OTHERS,
    ]);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  test("Grafana has the same alerts", () => {
    const files = generatedFiles();
    const ours = parse(files["rules/alerts.yaml"] ?? "") as RuleFile;
    const grafana = parse(files["grafana-alerting/alerts.yaml"] ?? "") as GrafanaFile;
    expect(grafana.groups.map(({ name }) => name)).toEqual(ours.groups.map(({ name }) => name));
    const [mine, theirs] = [ours.groups.flatMap((g) => g.rules), grafana.groups.flatMap((g) => g.rules)];
    expect(theirs.map((rule) => [rule.title, rule.data[0]?.model.expr, rule.for])).toEqual(
      mine.map((rule) => [rule.alert, rule.expr, rule.for]),
    );
    expect(new Set(theirs.map(({ uid }) => uid)).size).toBe(theirs.length);
    for (const { uid, annotations } of theirs) {
      expect(uid).toMatch(/^[a-z-]{1,40}$/);
      // Grafana's `$value` is a text with all labels
      expect(JSON.stringify(annotations)).not.toContain("$value ");
    }
  });
});

// --- internal ---

interface RuleFile {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly { readonly alert: string; readonly expr: string; readonly for: string }[];
  }[];
}
interface GrafanaFile {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly {
      readonly uid: string;
      readonly title: string;
      readonly for: string;
      readonly annotations: Readonly<Record<string, string>>;
      readonly data: readonly { readonly model: { readonly expr?: string } }[];
    }[];
  }[];
}
