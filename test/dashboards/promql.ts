import { parser } from "@prometheus-io/lezer-promql";

/** What a PromQL expression speaks of. */
export interface Parsed {
  /** Where the grammar did not understand it; empty where it did. */
  readonly errors: readonly string[];
  readonly metrics: readonly string[];
  /** Of matchers and of groupings. */
  readonly labels: readonly string[];
}

/** Reads an expression by Prometheus' own grammar. */
export function parsed(expr: string): Parsed {
  const errors: string[] = [];
  const metrics: string[] = [];
  const labels: string[] = [];
  parser.parse(expr).iterate({
    enter({ type, from, to, node }) {
      const text = expr.slice(from, to);
      if (type.isError) errors.push(`at ${from}: …${expr.slice(Math.max(0, from - 20), to + 20)}…`);
      else if (type.name === "Identifier" && node.parent?.type.name === "VectorSelector") metrics.push(text);
      else if (type.name === "LabelName") labels.push(text);
    },
  });
  return { errors, metrics, labels };
}
