import * as z from "zod";

/** What a piece of content is of the fact that told it. */
export const CONTENT_PARTS = ["prompt", "arguments", "result", "answer"] as const;
export type ContentPart = (typeof CONTENT_PARTS)[number];

/**
 * What a user wrote, a tool was given or gave, a model answered. Apart from events and entries, which are metadata by
 * type; it belongs to one of them, and so goes where that one goes.
 */
export const Content = z.object({
  /** Id of the event, or key of the entry, that told it; or a key of `toCome`. */
  fact: z.string().min(1),
  part: z.enum(CONTENT_PARTS),
  /** Tells pieces of one answer apart. The same content read again has the same. */
  piece: z.string().optional(),
  /** A text, or what JSON can hold. Of an answer: a text, or a message part of the GenAI conventions. */
  value: z.unknown(),
});
export type Content = z.infer<typeof Content>;

/** Content that came before the fact it belongs to is that fact's from now on. */
export const ContentClaim = z.object({ fact: z.string().min(1), claims: z.string().min(1) });
export type ContentClaim = z.infer<typeof ContentClaim>;

/** What a transcript or a payload tells beside metadata, in the order in which it is told. */
export type ToldContent = Content | ContentClaim;
