// OpenHook v0.1 specification, read 2026-11-21
import * as z from "zod";

const count = z.number().int().nonnegative();

const base = {
  openhook: z.string().regex(/^\d+\.\d+$/),
  id: z.string().min(1),
  source: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  /** ISO 8601 with zone. */
  time: z.iso.datetime({ offset: true }),
  session_id: z.string().min(1),
  cwd: z.string().optional(),
  extensions: z.record(z.string(), z.unknown()).optional(),
};

export const SessionStart = z.object({
  ...base,
  type: z.literal("session.start"),
  data: z.object({ model: z.string().optional() }).optional(),
});

export const SessionEndReason = z.enum(["user_exit", "timeout", "error", "completed"]);
export type SessionEndReason = z.infer<typeof SessionEndReason>;

export const SessionEnd = z.object({
  ...base,
  type: z.literal("session.end"),
  data: z
    .object({
      transcript_path: z.string().optional(),
      reason: SessionEndReason.optional(),
      model: z.string().optional(),
      duration_ms: count.optional(),
      input_tokens: count.optional(),
      output_tokens: count.optional(),
    })
    .optional(),
});

export const PromptSubmit = z.object({
  ...base,
  type: z.literal("prompt.submit"),
  data: z.object({ prompt_length: count.optional() }).optional(),
});

export const ToolStart = z.object({
  ...base,
  type: z.literal("tool.start"),
  data: z.object({ tool_name: z.string().optional(), tool_call_id: z.string().optional() }).optional(),
});

export const ToolEnd = z.object({
  ...base,
  type: z.literal("tool.end"),
  data: z
    .object({
      tool_name: z.string().optional(),
      tool_call_id: z.string().optional(),
      status: z.enum(["success", "error"]).optional(),
      duration_ms: count.optional(),
    })
    .optional(),
});

/**
 * One OpenHook v0.1 event, strictly as specified; facts without a field are under `extensions`.
 *
 * @see OpenHook v0.1 §2 and §3
 */
export const Envelope = z.discriminatedUnion("type", [SessionStart, PromptSubmit, ToolStart, ToolEnd, SessionEnd]);
export type Envelope = z.infer<typeof Envelope>;
