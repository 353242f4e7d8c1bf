import { parser } from "@prometheus-io/lezer-promql";

/** The names in a PromQL expression. */
export interface Parsed {
  /** Syntax errors; empty for a valid expression. */
  readonly errors: readonly string[];
  readonly metrics: readonly string[];
  /** Labels in matchers and groupings. */
  readonly labels: readonly string[];
}

/** Parses an expression with Prometheus' own grammar. */
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
