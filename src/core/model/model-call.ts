import type { JoinedNative } from "./native.ts";
import type { Price } from "./price-list.ts";
import type { TokenKind } from "./token-kinds.ts";
import type { EntryOf, TokenUsage } from "./transcript.ts";

/** One answer of a model. */
export interface ModelCall {
  readonly key: string;
  readonly responseId?: string;
  readonly requestId?: string;
  readonly model?: string;
  /** OpenTelemetry's provider name, if the agent talks to several; otherwise the session's provider applies. */
  readonly provider?: string;
  readonly requestedModel?: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Absent: not reported. */
  readonly usage?: TokenUsage;
  /** False: the agent never recorded how the answer ended, so its output count is a lower bound. */
  readonly complete: boolean;
  readonly finishReason?: string;
  /** The answer called tools, so its turn continues. */
  readonly asksForTools?: true;
  /**
   * Set if the usage is not that of one call, but of several: all of a turn or session, or those that the agent removed. `unknown`: what
   * it belongs to, and its figures, are not known.
   */
  readonly covers?: "turn" | "session" | "removed" | "unknown";
  /** How many calls such usage is of. Absent: not reported. */
  readonly coveredCalls?: number;
  /** A separate pass of an answer, whose usage excludes it. */
  readonly isBeside?: true;
  /** Set for a request that is no part of the conversation. */
  readonly purpose?: "compaction" | "memory" | "other";
  /** Service tier, which decides the price, if it is not the standard one, e.g. `priority`. */
  readonly tier?: string;
  /** Searches of the provider, which it charges besides tokens. Absent: none was reported. */
  readonly webSearches?: number;
  /** The provider charged something else besides tokens. */
  readonly hasOtherFees?: true;
  /** What the agent's vendor charged, in 10⁻⁹ of its own unit. Absent: not reported. */
  readonly nanoCredits?: number;
  /** Why the provider could not read the beginning of the prompt from its cache. Absent: it said nothing. */
  readonly cacheMiss?: EntryOf<"model_call">["cacheMiss"];
  readonly agentId?: string;
  /** What the agent's own telemetry adds. Absent: nothing came, or nothing could be joined. */
  readonly native?: JoinedNative;
}

/** A model call with its price. */
export interface PricedCall extends Price {
  readonly call: ModelCall;
}

/** The tier of a call to which the public prices do not apply, and whose price list is not known. */
export const UNKNOWN_TIER = "unknown";

/** The members of a model call, or of a sum over several, that are needed here. */
export interface KnownCall {
  readonly key: string;
  readonly agentId?: string | undefined;
  readonly startMs?: number | undefined;
  readonly timeMs?: number;
  readonly endMs: number;
  readonly usage?: TokenUsage | undefined;
  readonly covers?: EntryOf<"model_call">["covers"];
}

/** Sums over model calls. A token count is absent when no call reports it: unknown is never 0. */
export interface CallSums extends Readonly<Partial<Record<TokenKind, number | undefined>>> {
  readonly modelCalls: number;
  /** Usage records that cover a turn or session instead of one call, and do not say how many calls. Below, each is one call. */
  readonly aggregateRecords: number;
  /** Calls whose input or output is unknown. What is known of them is in the sums, which are lower bounds. */
  readonly callsWithoutUsage: number;
  /** Calls whose output count is a lower bound. */
  readonly incompleteCalls: number;
  /** Known cost of the calls, in 10⁻⁹ USD; absent when none has any. */
  readonly costNanoUsd?: number | undefined;
  /** Calls whose cost is unknown or a lower bound. */
  readonly unpricedCalls: number;
  /** Searches of the provider, and those of them whose fee is not known; absent when no call reports any. */
  readonly webSearches?: number | undefined;
  readonly unpricedSearches?: number | undefined;
  /** Part of the cost: what was charged besides tokens, as far as its price is known; absent when nothing was. */
  readonly feeNanoUsd?: number | undefined;
  /** What the vendor charged, in 10⁻⁹ of its own unit; absent when no call reports it. Sums over several agents mean nothing. */
  readonly nanoCredits?: number | undefined;
}

/** What sums need of a call. */
export interface SummedCall extends Price {
  readonly call: Pick<ModelCall, "covers" | "coveredCalls" | "usage" | "complete" | "webSearches" | "nanoCredits">;
}
