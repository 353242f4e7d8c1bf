import type { TokenUsage } from "./transcript.ts";

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
  /** Set if the usage covers several calls instead of one: all of a turn or session, or those that the agent removed. */
  readonly covers?: "turn" | "session" | "removed";
  /** Set for a request that is no part of the conversation. */
  readonly purpose?: "compaction" | "memory" | "other";
  /** Charged by a different price list than the public one. */
  readonly noListPrice?: true;
  readonly agentId?: string;
}

/** A model call with its price in 10⁻⁹ USD; absent: unknown. */
export interface PricedCall {
  readonly call: ModelCall;
  readonly costNanoUsd?: number;
}
