import type { Event, Extras } from "#core/model/event-schema.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";

/** Noon of a day; the other times of a test are relative to it. */
export const NOON_MS = Date.UTC(2026, 9, 5, 12);

const base = (id: string, ms: number, extensions: Extras) => ({
  id,
  source: "claude-code",
  time: new Date(NOON_MS + ms).toISOString(),
  session_id: "session-1",
  extensions,
});
const envelope = (id: string, ms: number, extensions: Extras = {}) => ({
  openhook: "0.1",
  ...base(id, ms, extensions),
});

export const started = (id: string, ms: number, extras: Extras = {}): Event => ({
  type: "session.start",
  ...envelope(id, ms, extras),
});
export const ended = (id: string, ms: number, extras: Extras = {}): Event => ({
  type: "session.end",
  ...envelope(id, ms, { native_reason: "other", ...extras }),
  data: { reason: "completed" },
});
export const prompted = (id: string, ms: number, promptId?: string): Event => ({
  type: "prompt.submit",
  ...envelope(id, ms, promptId === undefined ? {} : { prompt_id: promptId }),
  data: { prompt_length: 12 },
});
export const subagentStarted = (id: string, ms: number, extras: Extras): Event => ({
  type: "subagent.start",
  ...base(id, ms, extras),
});
export const subagentEnded = (id: string, ms: number, extras: Extras): Event => ({
  type: "subagent.end",
  ...base(id, ms, extras),
});
export const toolStarted = (id: string, ms: number, callId: string, extras: Extras = {}): Event => ({
  type: "tool.start",
  ...envelope(id, ms, extras),
  data: { tool_name: "Bash", tool_call_id: callId },
});
export const toolEnded = (
  id: string,
  ms: number,
  callId: string,
  data: { readonly status?: "success" | "error"; readonly duration_ms?: number } = { status: "success" },
  extras: Extras = {},
): Event => ({
  type: "tool.end",
  ...envelope(id, ms, extras),
  data: { tool_name: "Bash", tool_call_id: callId, ...data },
});
/** From an agent that reports no call ids. */
export const namelessStart = (id: string, ms: number, tool: string, digest?: string): Event => ({
  type: "tool.start",
  ...envelope(id, ms, digest === undefined ? {} : { input_digest: digest }),
  data: { tool_name: tool },
});
export const namelessEnd = (
  id: string,
  ms: number,
  tool: string,
  digest?: string,
  status: "success" | "error" = "success",
): Event => ({
  type: "tool.end",
  ...envelope(id, ms, digest === undefined ? {} : { input_digest: digest }),
  data: { tool_name: tool, status },
});
export const turnEnded = (id: string, ms: number, extras: Extras = {}): Event => ({
  type: "turn.end",
  ...base(id, ms, extras),
});
export const batch = (id: string, ms: number, callIds: readonly string[]): Event => ({
  type: "tool.batch",
  ...base(id, ms, { tool_call_ids: [...callIds] }),
});

export const used = (callId: string, ms: number, name = "Bash", inputDigest?: string): TranscriptEntry => ({
  kind: "tool_use",
  key: `use:${callId}`,
  timeMs: NOON_MS + ms,
  callId,
  name,
  ...(inputDigest !== undefined && { inputDigest }),
});
export const resulted = (
  callId: string,
  ms: number,
  status: "success" | "error" | "denied" | "unfinished" = "success",
): TranscriptEntry => ({
  kind: "tool_result",
  key: `result:${callId}`,
  timeMs: NOON_MS + ms,
  callId,
  status,
});
