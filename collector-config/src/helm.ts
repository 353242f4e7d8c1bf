import { parse, stringify } from "yaml";

/** A file below `kubernetes/config/`, and the files that it is made from. */
interface HelmConfig {
  readonly of: readonly string[];
  /** Members of the chart's default values that we do not use; removed by `null`. */
  readonly without?: Tree;
  /** Differences from the plain files. */
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
        `# Written by scripts/collector-redaction.mjs from ${of.join(" and ")}; the comments are there. Do not edit.`,
        "# Values of the official chart opentelemetry-collector, in addition to values-*.yaml.",
      ];
      const values = stringify({ config: instead?.(plain) ?? plain }, { lineWidth: 0, aliasDuplicateObjects: false });
      return [name, `${head.join("\n")}\n${values}`];
    }),
  );
}

/** Merges like the Collector and Helm: objects by key, otherwise the later value wins. */
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
  "native.yaml": { of: ["native.yaml"] },
  "logs.yaml": { of: ["logs.yaml"] },
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
  "output-otlp-logs.yaml": { of: ["outputs/otlp-logs.yaml"] },
  "output-loki.yaml": { of: ["outputs/loki.yaml"] },
};

/** Pods are replaced: their addresses come from a headless service, not from a list. */
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
