import type { TokenUsage } from "#core/model/transcript.ts";
import * as semconv from "#core/telemetry/semconv.ts";

/** Token kinds in display order. The last three are parts of the first two. */
export const KINDS = ["input", "output", "cacheRead", "cacheWrite", "reasoning"] as const;
export type Kind = (typeof KINDS)[number];

/** Their names in `openhook.token.type` and JSON. */
export const KIND_NAME = {
  input: "input",
  output: "output",
  cacheRead: "cache_read",
  cacheWrite: "cache_write",
  reasoning: "reasoning",
} as const satisfies Record<Kind, string>;

/** Span attributes with token counts, in every spelling. */
export const FIGURES: readonly string[] = [
  semconv.GEN_AI_USAGE_INPUT_TOKENS,
  semconv.GEN_AI_USAGE_OUTPUT_TOKENS,
  semconv.GEN_AI_USAGE_CACHE_READ,
  semconv.GEN_AI_USAGE_CACHE_WRITE,
  semconv.GEN_AI_USAGE_CACHE_CREATION,
  semconv.GEN_AI_USAGE_REASONING,
  ...Object.values(semconv.OPENHOOK_TOTAL),
];

/** A model call from one of the sources. */
export interface CallFact {
  readonly key: string;
  readonly agentId: string | undefined;
  readonly model: string | undefined;
  /** Absent: the source does not report it. */
  readonly usage: TokenUsage | undefined;
  /** Its tokens cover several calls, so it has no span. */
  readonly covers: "turn" | "session" | "removed" | "unknown" | undefined;
  readonly startMs: number;
  readonly endMs: number;
}

/** A span from the store or a backend: its place in the tree and its figures. */
export interface SpanFact {
  readonly spanId: string;
  /** "" for a root. */
  readonly parentSpanId: string;
  readonly name: string;
  /** For a model call: the model that its tokens are summed under. */
  readonly model: string | undefined;
  readonly isCall: boolean;
  /** Attributes with token counts, by name. */
  readonly figures: Readonly<Record<string, number>>;
  /** The sender's `service.instance.id`, if the backend has it. */
  readonly instanceId: string | undefined;
}

/** A difference between two sources. */
export interface Difference {
  readonly between: string;
  /** `<source>/<id>`; absent for differences over all sessions. */
  readonly session?: string;
  /** What differs: a model call, a span, a series. */
  readonly subject: string;
  readonly what: string;
  /** `null`: missing on that side. */
  readonly left: number | null;
  readonly right: number | null;
}

/** The name of a session in differences and remarks: `<source>/<id>`. */
export const labelOf = ({ source, sessionId }: { readonly source: string; readonly sessionId: string }): string =>
  `${source}/${sessionId}`;

/** Sums by model and kind. A kind that no call reports is absent: unknown is never 0. */
export class Sums {
  readonly byModel = new Map<string, Map<Kind, number>>();

  add(model: string | undefined, usage: Readonly<Partial<Record<Kind, number | undefined>>> | undefined): void {
    if (usage === undefined) return;
    const name = model ?? "unknown";
    const sums = this.byModel.get(name) ?? new Map<Kind, number>();
    this.byModel.set(name, sums);
    for (const kind of KINDS) {
      const amount = usage[kind];
      if (amount !== undefined) sums.set(kind, (sums.get(kind) ?? 0) + amount);
    }
  }

  addAll(other: Sums): void {
    for (const [model, sums] of other.byModel) this.add(model, Object.fromEntries(sums));
  }

  /** @returns `undefined` if unknown */
  of(model: string, kind: Kind): number | undefined {
    return this.byModel.get(model)?.get(kind);
  }
}

/** Sums over all calls. */
export function sumOf(
  calls: Iterable<{ readonly model?: string | undefined; readonly usage?: TokenUsage | undefined }>,
): Sums {
  const sums = new Sums();
  for (const { model, usage } of calls) sums.add(model, usage);
  return sums;
}

/** Sums over the tokens of model call spans. */
export function sumOfSpans(spans: Iterable<Pick<SpanFact, "isCall" | "model" | "figures">>): Sums {
  const sums = new Sums();
  for (const { isCall, model, figures } of spans) {
    if (!isCall) continue;
    sums.add(model, {
      input: figures[semconv.GEN_AI_USAGE_INPUT_TOKENS],
      output: figures[semconv.GEN_AI_USAGE_OUTPUT_TOKENS],
      cacheRead: figures[semconv.GEN_AI_USAGE_CACHE_READ],
      cacheWrite: figures[semconv.GEN_AI_USAGE_CACHE_WRITE] ?? figures[semconv.GEN_AI_USAGE_CACHE_CREATION],
      reasoning: figures[semconv.GEN_AI_USAGE_REASONING],
    });
  }
  return sums;
}

/** What a comparison found, apart from agreement. */
export interface Findings {
  /** In the order of the flow: the first one is closest to the source of the tokens. */
  readonly differences: readonly Difference[];
  /** What could not be compared and why, one line each. */
  readonly unknown: readonly string[];
  /** Neither agreement nor difference, one line each. */
  readonly remarks: readonly string[];
}

/** The findings of several comparisons, in the order in which they were added. */
export class AllFindings implements Findings {
  readonly differences: Difference[] = [];
  readonly unknown: string[] = [];
  readonly remarks: string[] = [];

  add({ differences = [], unknown = [], remarks = [] }: Partial<Findings>): void {
    this.differences.push(...differences);
    this.unknown.push(...unknown);
    this.remarks.push(...remarks);
  }
}
