import * as z from "zod";

/** What the content is: the user's prompt, a tool's arguments or result, the model's answer. */
const CONTENT_PARTS = ["prompt", "arguments", "result", "answer"] as const;
export type ContentPart = (typeof CONTENT_PARTS)[number];

/**
 * A prompt, a tool's arguments or result, an answer. Separate from events and entries, which are metadata by type. Each piece
 * belongs to one of those and follows it.
 */
export const Content = z.object({
  /** Id of the event or key of the entry it belongs to; or a key from `pendingKey`. */
  fact: z.string().min(1),
  part: z.enum(CONTENT_PARTS),
  /** Distinguishes the pieces of one answer. The same content read again has the same one. */
  piece: z.string().optional(),
  /** Text or any JSON value. For answers: text, or a message part of the GenAI conventions. */
  value: z.unknown(),
});
export type Content = z.infer<typeof Content>;

/** Assigns content that arrived early to its fact. */
const ContentClaim = z.object({ fact: z.string().min(1), claims: z.string().min(1) });
type ContentClaim = z.infer<typeof ContentClaim>;

/** Content of a transcript or payload, in its original order. */
export type ContentUpdate = Content | ContentClaim;
