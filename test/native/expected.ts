import type { NativeFacts } from "#core/model/native.ts";
import type { Raw } from "./recorded.ts";

/** What a record must become; written from the recordings, not from the tables. Ids that are undefined are not there. */
export interface Expected {
  readonly ids: Readonly<Record<string, unknown>>;
  readonly facts: NativeFacts;
  /** It links to the span. */
  readonly isLinked?: boolean;
}

/** By agent: `undefined` for a record that is dropped. */
export const EXPECTED: Readonly<Record<string, (raw: Raw) => Expected | undefined>> = {
  "claude-code"({ kind, name, attributes: a, parentSpanId }) {
    const tokens = {
      ...{ input: num(a["input_tokens"]), output: num(a["output_tokens"]) },
      ...{ cacheRead: num(a["cache_read_tokens"]), cacheWrite: num(a["cache_creation_tokens"]) },
    };
    const decision = {
      decision: a["decision"] === "accept" ? "allow" : "deny",
      decidedBy: a["source"],
      byUser: a["source"] === "config" ? false : undefined,
    } as const;
    const call = { callId: a["tool_use_id"] };
    switch (`${kind} ${name}`) {
      case "span claude_code.llm_request":
        if (a["request_id"] === undefined) return undefined;
        return of(
          { requestId: a["request_id"] },
          { firstTokenMs: num(a["ttft_ms"]), tokens, attempts: num(a["attempt"]) },
        );
      case "span claude_code.tool":
        return of(call, {});
      case "span claude_code.tool.blocked_on_user":
        return of({ spanId: parentSpanId }, { ...decision, permissionMs: num(a["duration_ms"]) } as NativeFacts);
      case "span claude_code.tool.execution":
        return of(call, { executionMs: num(a["duration_ms"]) });
      case "log user_prompt":
        return of({ promptId: a["prompt.id"] }, {});
      case "log api_request": {
        const costNanoUsd = Math.round(num(a["cost_usd"]) * 1e12) / 1e3;
        return log({ requestId: a["request_id"] }, { firstTokenMs: num(a["ttft_ms"]), tokens, costNanoUsd });
      }
      case "log api_refusal":
        return log({ requestId: a["request_id"] }, { refusal: "refusal" });
      case "log tool_decision":
        return log(call, decision as NativeFacts);
      case "log hook_execution_complete": {
        const hook = {
          ...{ event: String(a["hook_event"]), runs: num(a["num_hooks"]) },
          ...{
            failures: num(a["num_non_blocking_error"]) + num(a["num_cancelled"]),
            durationMs: num(a["total_duration_ms"]),
          },
        };
        return log({ promptId: a["prompt.id"] }, { hook });
      }
      case "log mcp_server_connection": {
        const state = a["status"] as "connected";
        return log({}, { connection: { state, transport: "stdio", durationMs: num(a["duration_ms"]) } });
      }
      default:
        return undefined;
    }
  },

  codex({ kind, name, attributes: a, durationMs }) {
    switch (`${kind} ${name}`) {
      case "span session_task.turn": {
        const usage = (kindOfToken: string): number => num(a[`codex.turn.token_usage.${kindOfToken}_tokens`]);
        const tokens = {
          ...{ input: usage("non_cached_input"), output: usage("output") },
          ...{ cacheRead: usage("cached_input"), cacheWrite: usage("cache_write_input") },
        };
        return of({ promptId: a["turn.id"] }, { tokens });
      }
      case "span mcp.tools.call":
        return of({ callId: a["tool.call_id"] }, { executionMs: thousandths(durationMs) });
      case "log codex.tool_decision":
        return log({ callId: a["call_id"] }, { decision: "allow", decidedBy: "Config", byUser: false });
      case "log codex.tool_result":
        return of({ callId: a["call_id"] }, {});
      default:
        return kind === "span" && a["codex.tool.phase"] === "dispatch" ? of({ callId: a["call_id"] }, {}) : undefined;
    }
  },

  copilot({ kind, name, attributes: a, parentSpanId, durationMs }) {
    if (name.startsWith("chat ")) {
      const read = a["gen_ai.usage.cache_read.input_tokens"];
      const facts = {
        firstTokenMs: thousandths(num(a["gen_ai.response.time_to_first_chunk"]) * 1e3),
        serverMs: num(a["github.copilot.server_duration"]),
        tokens: {
          input: num(a["gen_ai.usage.input_tokens"]) - num(read ?? 0),
          output: num(a["gen_ai.usage.output_tokens"]),
          ...(read === undefined ? {} : { cacheRead: num(read) }),
        },
      };
      return kind === "span" ? of({ responseId: a["gen_ai.response.id"] }, facts) : undefined;
    }
    if (kind === "span" && name.startsWith("execute_tool ")) return of({ callId: a["gen_ai.tool.call.id"] }, {});
    if (kind === "span" && name === "permission") {
      const decidedBy = String(a["github.copilot.permission.result"]);
      return of({ spanId: parentSpanId }, { permissionMs: durationMs, decision: "deny", decidedBy, byUser: false });
    }
    if (name === "github.copilot.hook.end") {
      const durationMsOfHooks = thousandths(num(a["github.copilot.hook.duration"]) * 1e3);
      return log({}, { hook: { event: String(a["github.copilot.hook.type"]), durationMs: durationMsOfHooks } });
    }
    const isConnected =
      name === "github.copilot.mcp.server.lifecycle" && a["github.copilot.mcp.server.state"] === "initialized";
    return isConnected ? log({}, { connection: { state: "connected" } }) : undefined;
  },

  "qwen-code"({ kind, name, attributes: a }) {
    const call = { callId: a["tool.call_id"] };
    switch (`${kind} ${name}`) {
      case "span qwen-code.llm_request": {
        // One that failed for good has no id
        if (a["gen_ai.response.id"] === undefined) return undefined;
        const cacheRead = num(a["gen_ai.usage.cache_read.input_tokens"]);
        const tokens = {
          input: num(a["gen_ai.usage.input_tokens"]) - cacheRead,
          output: num(a["gen_ai.usage.output_tokens"]),
          cacheRead,
        };
        const firstTokenMs = thousandths(num(a["gen_ai.response.time_to_first_chunk"]) * 1e3);
        return of({ responseId: a["gen_ai.response.id"] }, { firstTokenMs, tokens });
      }
      case "span qwen-code.tool":
        return of(call, {});
      case "span qwen-code.tool.execution":
        return of(call, { executionMs: num(a["duration_ms"]) });
      case "span qwen-code.hook":
        return of({}, { hook: { event: String(a["hook_event"]), durationMs: num(a["duration_ms"]) } });
      case "log qwen-code.tool_call": {
        const isDenied = a["error_type"] === "execution_denied";
        const decision = isDenied
          ? ({ decision: "deny", decidedBy: "execution_denied" } as const)
          : ({ decision: "allow", decidedBy: "auto_accept", byUser: false } as const);
        return log({ callId: a["call_id"] }, decision);
      }
      default:
        return undefined;
    }
  },

  "gemini-cli"({ kind, name, attributes: a, durationMs }) {
    if (kind === "span" && name === "tool_call")
      return of({ callId: a["gen_ai.tool.call_id"] }, { executionMs: thousandths(durationMs) });
    if (name !== "gemini_cli.hook_call") return undefined;
    const failures = a["success"] === true ? 0 : 1;
    return log(
      {},
      { hook: { event: String(a["hook_event_name"]), runs: 1, failures, durationMs: num(a["duration_ms"]) } },
    );
  },

  opencode: ({ kind, name, attributes: a }) =>
    kind === "span" && name === "Tool.execute" ? of({ callId: a["tool.call_id"] }, {}) : undefined,

  goose({ kind, name, attributes: a }) {
    if (kind === "span" && name === "dispatch_tool_call") return of({ callId: a["gen_ai.tool.call.id"] }, {});
    if (name !== "stream_response_from_provider") return undefined;
    const cacheRead = num(a["gen_ai.usage.cache_read.input_tokens"]);
    const tokens = {
      input: num(a["gen_ai.usage.input_tokens"]) - cacheRead,
      output: num(a["gen_ai.usage.output_tokens"]),
      cacheRead,
    };
    return of({ responseId: a["gen_ai.response.id"] }, { tokens });
  },
};

// --- internal ---

const num = (value: unknown): number => Number(value);
const thousandths = (value: number): number => Math.round(value * 1e3) / 1e3;
const of = (ids: Expected["ids"], facts: NativeFacts): Expected => ({ ids, facts, isLinked: true });
const log = (ids: Expected["ids"], facts: NativeFacts): Expected => ({ ids, facts });
