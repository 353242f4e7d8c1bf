import type { JoinedNative } from "#core/model/native.ts";
import { isoTime, usd } from "#kit/text/figures.ts";
import type { NativeSums } from "./sums.ts";

/** What the agent's own telemetry adds to a part, as a member of `--json`; `null`: nothing. Unknown is `null`, never 0. */
export const nativeJson = (native: JoinedNative | undefined) =>
  native === undefined
    ? null
    : {
        first_token_ms: native.firstTokenMs ?? null,
        attempts: native.attempts ?? null,
        server_ms: native.serverMs ?? null,
        refusal: native.refusal ?? null,
        reported_cost_usd: usd(native.costNanoUsd),
        permission_wait_ms: native.permissionMs ?? null,
        decision: native.decision ?? null,
        decided_by: native.decidedBy ?? null,
        decided_by_user: native.byUser ?? null,
        execution_ms: native.executionMs ?? null,
        hooks: (native.hooks ?? []).map(({ timeMs, event, runs, failures, durationMs }) => ({
          time: isoTime(timeMs),
          event,
          runs: runs ?? null,
          failures: failures ?? null,
          duration_ms: durationMs,
        })),
        mcp_connections: (native.connections ?? []).map((one) => ({
          time: isoTime(one.timeMs),
          server: one.server ?? null,
          state: one.state,
          transport: one.transport ?? null,
          duration_ms: one.durationMs ?? null,
          error_type: one.errorType ?? null,
        })),
        span: native.span === undefined ? null : { trace_id: native.span.traceId, span_id: native.span.spanId },
      };

/** The sums of a session; `null`: the agent's own telemetry says nothing of it. */
export const nativeSumsJson = (sums: NativeSums | undefined) =>
  sums === undefined
    ? null
    : {
        permission_waits: sums.waits?.calls ?? null,
        permission_wait_ms: sums.waits?.ms ?? null,
        median_first_token_ms: sums.firstTokenMs ?? null,
        retries: sums.retries ?? null,
        refusals: sums.refusals ?? null,
        reported_cost_usd: usd(sums.cost?.reportedNanoUsd),
        cost_of_these_calls_usd: usd(sums.cost?.ourNanoUsd),
        hook_runs: sums.hooks?.runs ?? null,
        hook_failures: sums.hooks?.failures ?? null,
        hook_ms: sums.hooks?.ms ?? null,
        failed_mcp_servers: sums.failedServers.map((server) => server ?? null),
      };
