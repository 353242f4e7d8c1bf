/**
 * What agents report in their own OpenTelemetry ("native telemetry") and no transcript or hook has. It adds attributes and events to
 * our spans and is never added to tokens, cost or counts of calls: these come from transcripts and hooks.
 */

/** Which id joins a record with a part of the session. `spanId`: the id of another native span, which is joined itself. */
export type NativeIdKind = "responseId" | "requestId" | "callId" | "promptId" | "spanId";

/** Facts about one call, turn or session. Each is absent if the agent did not report it. Times in milliseconds. */
export interface NativeFacts {
  /** Model call or turn: from the request to the first part of the answer. */
  readonly firstTokenMs?: number;
  /** Model call: requests that were sent for it; 1 without a retry. */
  readonly attempts?: number;
  /** Model call: how long the provider's server says that it worked. */
  readonly serverMs?: number;
  /** Model call: what the agent says it cost, in 10⁻⁹ USD. A second opinion: never in a sum of ours. */
  readonly costNanoUsd?: number;
  /** Model call: the model refused to answer; the provider's category, or `refusal`. */
  readonly refusal?: string;
  /** Model call or session: tokens as the agent reports them. Only `reconcile --native` reads them. */
  readonly tokens?: NativeTokens;
  /** Tool call: how long it waited for permission. */
  readonly permissionMs?: number;
  readonly decision?: "allow" | "deny";
  /** Tool call: who decided, in the agent's word: `config`, `hook`, `user_permanent` … */
  readonly decidedBy?: string;
  /** Tool call: whether the user decided. Absent: the agent does not say it. */
  readonly byUser?: boolean;
  /** Tool call: how long it ran, without the wait for permission. */
  readonly executionMs?: number;
  /** Turn or session: one execution of the hooks of an event. */
  readonly hook?: NativeHook;
  /** Session: one connection to an MCP server, or an attempt. */
  readonly connection?: NativeConnection;
}

export interface NativeTokens {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** The hooks that an agent ran for one event, ours among them, with their time together. */
export interface NativeHook {
  readonly event: string;
  /** Absent: the agent does not say how many there were. */
  readonly runs?: number;
  /** Absent: it does not say, or what it says cannot be used. */
  readonly failures?: number;
  readonly durationMs: number;
}

export interface NativeConnection {
  /** Absent: the agent does not name it. */
  readonly server?: string;
  readonly state: "connected" | "failed" | "disconnected";
  readonly transport?: string;
  readonly durationMs?: number;
  readonly errorType?: string;
}

/** A record of native telemetry, reduced to what is kept. */
export interface NativeRecord {
  /** The same record has the same key, however often it comes: `<trace id>-<span id>` of a span, otherwise a digest. */
  readonly key: string;
  /** The agent's id of the session. */
  readonly sessionId: string;
  /** The first of these ids that the session knows joins it; none: it belongs to the session. */
  readonly ids: readonly { readonly kind: NativeIdKind; readonly id: string }[];
  /** When it happened, in milliseconds since the epoch: its start if it is a span. */
  readonly timeMs: number;
  readonly facts: NativeFacts;
  /** Where the agent's own trace has it, for a link. `spanId` is also what `ids` of other records refer to. */
  readonly span?: { readonly traceId: string; readonly spanId: string };
}

/** What joined one call, turn or session. */
export interface JoinedNative extends Omit<NativeFacts, "hook" | "connection"> {
  /** By event, with the time of the first. */
  readonly hooks?: readonly (NativeHook & { readonly timeMs: number })[];
  readonly connections?: readonly (NativeConnection & { readonly timeMs: number })[];
  /** The agent's own span of it. */
  readonly span?: NonNullable<NativeRecord["span"]>;
}
