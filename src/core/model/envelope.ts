import * as z from "zod";

// OpenHook v0.1 specification, both texts, read 2026-11-26

const count = z.number().int().nonnegative();

const base = {
  openhook: z.string().regex(/^\d+\.\d+$/),
  id: z.string().min(1),
  source: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  /** ISO 8601 with zone. */
  time: z.iso.datetime({ offset: true }),
  session_id: z.string().min(1),
  /** The working directory, from either text. */
  cwd: z.string().optional(),
  /** Where the agent works, if that is no directory: a URI. */
  context: z.string().optional(),
  extensions: z.record(z.string(), z.unknown()).optional(),
};

const SessionStart = z.object({
  ...base,
  type: z.literal("session.start"),
  data: z.object({ model: z.string().optional() }).optional(),
});

export const SessionEndReason = z.enum(["user_exit", "timeout", "error", "completed"]);

export type SessionEndReason = z.infer<typeof SessionEndReason>;

const SessionEnd = z.object({
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

const PromptSubmit = z.object({
  ...base,
  type: z.literal("prompt.submit"),
  data: z.object({ prompt_length: count.optional() }).optional(),
});

const ToolStart = z.object({
  ...base,
  type: z.literal("tool.start"),
  data: z.object({ tool_name: z.string().optional(), tool_call_id: z.string().optional() }).optional(),
});

const ToolEnd = z.object({
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

const lineNumber = z.number().int().positive();

/** One change of one file. */
export const FileWriteEvent = z.object({
  ...base,
  type: z.literal("file.write"),
  data: z.object({
    path: z.string().min(1),
    operation: z.enum(["create", "update", "delete"]).optional(),
    start_line: lineNumber.optional(),
    end_line: lineNumber.optional(),
    model: z.string().optional(),
    tool_call_id: z.string().optional(),
  }),
});

/**
 * One OpenHook v0.1 event with the fields of both texts; facts without a field are under `extensions`. `src/collect/convert` writes it as one
 * of the two.
 *
 * @see OpenHook v0.1 §2 and §3
 */
export const Envelope = z.discriminatedUnion("type", [
  SessionStart,
  PromptSubmit,
  ToolStart,
  ToolEnd,
  FileWriteEvent,
  SessionEnd,
]);

export type Envelope = z.infer<typeof Envelope>;
