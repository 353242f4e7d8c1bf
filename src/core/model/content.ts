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

/** Which content is wanted: of a call, of an answer, or of a prompt with the last answer until the turn's end. */
export type WantedContent =
  | { readonly subject: "tool_call" | "model_call"; readonly key: string }
  | { readonly subject: "turn"; readonly key: string; readonly startMs: number; readonly endMs: number };

/** Content of one turn or call, as texts or JSON, without secrets and shortened. Absent: there is none, or it was not found. */
export type ShownContent = { readonly [P in ContentPart]?: string };

/**
 * What a turn or a tool call was about, in one line: the first line of its prompt, its command or file. Only for display: never
 * stored, never sent.
 */
export interface ContentLine {
  readonly subject: "turn" | "tool_call";
  /** Key of the prompt, id of the call, both as the transcript has them. */
  readonly key: string;
  /** Of a call: its tool. */
  readonly tool?: string;
  readonly timeMs: number;
  readonly agentId?: string;
  readonly text: string;
}
