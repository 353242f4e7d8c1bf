import { isoTime, usd } from "#kit/text/figures.ts";
import type { NativeRow } from "./compare-native.ts";
import type { Findings } from "./facts.ts";
import { KIND_NAME, KINDS, type Sums } from "./facts.ts";

export type Verdict = "agree" | "differ" | "unknown";

export interface SessionReport {
  readonly source: string;
  readonly id: string;
  readonly startMs: number;
  readonly isOpen: boolean;
  /** `reported`: in its transcripts; absent if unknown. */
  readonly calls: { readonly reported: number | undefined; readonly stored: number };
  /** `delivered` absent: nothing is exported. `found`: by backend, in the order of `Totals.traces`. */
  readonly spans: {
    readonly stored: number;
    readonly delivered: number | undefined;
    readonly found: readonly (number | undefined)[];
  };
  readonly verdict: Verdict;
}

/** Sums over all compared sessions; absent: unknown for some or all of them. */
interface Totals {
  readonly transcripts: Sums | undefined;
  /** Of the sessions with readable transcripts. */
  readonly known: Sums;
  readonly stored: Sums;
  readonly delivered: Sums | undefined;
  readonly traces: readonly { readonly title: string; readonly sums: Sums | undefined }[];
}

export interface Report extends Findings {
  /** Which sessions, as text. */
  readonly what: string;
  readonly backends: readonly { readonly title: string; readonly url: string }[];
  readonly sessions: readonly SessionReport[];
  readonly totals: Totals;
  /** Absent for a single session without Prometheus, because counters have no sessions. */
  readonly counters:
    | {
        readonly instanceId: string | undefined;
        readonly streams: number;
        readonly hasPrometheus: boolean;
        readonly tokens: readonly {
          readonly kind: string;
          readonly stored: number | undefined;
          readonly delivered: number | undefined;
          readonly prometheus: number | undefined;
        }[];
      }
    | undefined;
  /** By session and model; absent: not asked for. */
  readonly native?: readonly NativeRow[];
  /** Number of possible comparisons. */
  readonly compared: number;
}

/** The report as JSON. Unknown is `null`. */
export function toJson(report: Report) {
  const { differences, sessions, totals, counters } = report;
  return {
    verdict: differences.length > 0 ? "differ" : report.compared === 0 ? "unknown" : "agree",
    first_difference: differences[0] ?? null,
    differences,
    unknown: report.unknown,
    remarks: report.remarks,
    backends: report.backends,
    tokens: {
      transcripts: sumsJson(totals.transcripts),
      store: sumsJson(totals.stored),
      delivered: sumsJson(totals.delivered),
      ...Object.fromEntries(totals.traces.map(({ title, sums }) => [title.toLowerCase(), sumsJson(sums)])),
    },
    sessions: sessions.map((session) => ({
      source: session.source,
      session_id: session.id,
      started: isoTime(session.startMs),
      open: session.isOpen,
      verdict: session.verdict,
      model_calls: { transcripts: session.calls.reported ?? null, store: session.calls.stored },
      spans: {
        store: session.spans.stored,
        delivered: session.spans.delivered ?? null,
        ...Object.fromEntries(
          totals.traces.map(({ title }, i) => [title.toLowerCase(), session.spans.found[i] ?? null]),
        ),
      },
    })),
    ...(report.native !== undefined && { native: report.native.map(nativeJson) }),
    counters:
      counters === undefined
        ? null
        : {
            service_instance_id: counters.instanceId ?? null,
            streams: counters.streams,
            tokens: Object.fromEntries(
              counters.tokens.map(({ kind, stored, delivered, prometheus }) => [
                kind,
                {
                  store: stored ?? null,
                  delivered: delivered ?? null,
                  ...(counters.hasPrometheus && { prometheus: prometheus ?? null }),
                },
              ]),
            ),
          },
  };
}

// --- internal ---

const nativeJson = ({ session, model, calls, figures, verdict }: NativeRow) => ({
  session,
  model,
  verdict,
  model_calls: { store: calls.stored, native: calls.native },
  ...Object.fromEntries(
    figures.map(({ kind, stored, native }) =>
      kind === "cost"
        ? ["cost_usd", { store: usd(stored), native: usd(native) }]
        : [`${kind}_tokens`, { store: stored, native }],
    ),
  ),
});

function sumsJson(sums: Sums | undefined) {
  if (sums === undefined) return null;
  return Object.fromEntries(
    [...sums.byModel]
      .sort()
      .map(([model, of]) => [
        model,
        Object.fromEntries(KINDS.flatMap((kind) => (of.has(kind) ? [[KIND_NAME[kind], of.get(kind)]] : []))),
      ]),
  );
}
