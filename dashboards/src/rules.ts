export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}
export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: "critical" | "warning" | "info";
  /** One line with what is wrong and where. `$value` and `$labels` as Prometheus has them. */
  readonly summary: string;
  /** What it means, and what to do. */
  readonly description: string;
  readonly dashboard: string;
}
export interface Group<Rule> {
  readonly name: string;
  readonly interval: string;
  /** Explains these rules; written above them. */
  readonly remark: string;
  readonly rules: readonly Rule[];
}
