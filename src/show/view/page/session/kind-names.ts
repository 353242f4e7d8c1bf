import type { SpanKind } from "../../wire/spans.ts";

export const KIND_NAMES = {
  session: "session",
  turn: "turn",
  subagent: "subagent",
  model_call: "model call",
  tool_call: "tool call",
  other: "span",
} as const satisfies Record<SpanKind, string>;
