import { parse, stringify } from "yaml";

/** A file below `kubernetes/config/`, and the files of which it is the chart's form. */
interface HelmConfig {
  readonly of: readonly string[];
  /** What the chart's own values add and we do not have: taken out by `null`. */
  readonly without?: Tree;
  /** Other than on a machine. */
  readonly instead?: (config: Tree) => Tree;
}

export interface Tree {
  readonly [key: string]: Tree | readonly (string | number | boolean | Tree)[] | string | number | boolean | null;
}

/**
 * The plain configurations as values of the official Helm chart (`config:`), by file name.
 *
 * @param read one of the plain files, by its name below `collector-config/`
 */
export function helmConfigs(read: (name: string) => string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(HELM_CONFIGS).map(([name, { of, without, instead }]) => {
      const plain = of.map((file): Tree => parse(read(file), { merge: true })).reduce(merged, without ?? {});
      const head = [
        `# Written by scripts/collector-redaction.mjs from ${of.join(" and ")}, where the reasons are. Change nothing here.`,
        "# Values of the official chart opentelemetry-collector, beside values-*.yaml.",
      ];
      const values = stringify({ config: instead?.(plain) ?? plain }, { lineWidth: 0, aliasDuplicateObjects: false });
      return [name, `${head.join("\n")}\n${values}`];
    }),
  );
}

/** As the Collector and Helm merge: objects by key, everything else by the later one. */
export function merged(first: Tree, second: Tree): Tree {
  const result: Record<string, Tree[string]> = { ...first };
  for (const [key, value] of Object.entries(second)) {
    const before = result[key];
    result[key] = isTree(before) && isTree(value) ? merged(before, value) : value;
  }
  return result;
}

export const isTree = (value: unknown): value is Tree =>
  typeof value === "object" && value !== null && !Array.isArray(value);

// --- internal ---

const CHARTS_OWN: Tree = {
  receivers: { jaeger: null, zipkin: null, prometheus: null },
  processors: { batch: null },
  exporters: { debug: null },
  service: { pipelines: { logs: null } },
};

const HELM_CONFIGS: Readonly<Record<string, HelmConfig>> = {
  "gateway.yaml": { of: ["gateway.yaml", "redaction.yaml"], without: CHARTS_OWN },
  "tier-1.yaml": { of: ["gateway-scaled/tier-1.yaml"], instead: withHeadlessService },
  "tier-1-kafka.yaml": { of: ["gateway-scaled/tier-1-kafka.yaml"] },
  "tier-2.yaml": {
    of: ["gateway-scaled/tier-2.yaml"],
    without: merged(CHARTS_OWN, { receivers: { otlp: { protocols: { http: null } } } }),
  },
  "tier-2-kafka.yaml": { of: ["gateway-scaled/tier-2-kafka.yaml"] },
  "output-jaeger.yaml": { of: ["outputs/jaeger.yaml"] },
  "output-tempo.yaml": { of: ["outputs/tempo.yaml"] },
  "output-prometheus-otlp.yaml": { of: ["outputs/prometheus-otlp.yaml"] },
  "output-prometheus-scrape.yaml": { of: ["outputs/prometheus-scrape.yaml"] },
  "output-otlp.yaml": { of: ["outputs/otlp.yaml"] },
};

/** Pods come and go: their addresses are those of a headless service, and not a list. */
function withHeadlessService(config: Tree): Tree {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the Collector's own
  const dns = { hostname: "${env:OPENHOOK_TIER_2}", port: "4317", interval: "5s" };
  const exporters = isTree(config["exporters"]) ? config["exporters"] : {};
  const resolved = Object.entries(exporters).map(([name, exporter]) => [
    name,
    isTree(exporter) && "resolver" in exporter ? { ...exporter, resolver: { dns } } : exporter,
  ]);
  return { ...config, exporters: Object.fromEntries(resolved) };
}
