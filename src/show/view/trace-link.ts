import type { Config } from "#config/schema.ts";

/** Address of a trace in the user's backend, with `{trace_id}`: the setting, otherwise the Jaeger that reconcile queries. */
export function traceLinkOf({ view, reconcile: { jaeger } }: Pick<Config, "view" | "reconcile">): {
  readonly traceLink?: string;
} {
  if (view.traceLink !== undefined) return { traceLink: view.traceLink };
  return jaeger === undefined ? {} : { traceLink: `${jaeger.replace(/\/$/, "")}/trace/{trace_id}` };
}
