import type { ContentLine, ShownContent } from "#core/model/content.ts";
import type { SessionView } from "../../report/session-view.ts";
import { linesOfSpans } from "../../report/story.ts";

/** What was asked and done, by span. */
export function toLines(view: SessionView, lines: readonly ContentLine[]) {
  const bySpan = [...linesOfSpans(view, lines)];
  return {
    kind: "lines" as const,
    /** Span ids, concatenated. */
    ids: bySpan.map(([id]) => id).join(""),
    texts: bySpan.map(([, { text }]) => text),
  };
}

/** The content of one span; members are `null` where the agent's files have none. */
export const toContent = (spanId: string, content: ShownContent = {}) => ({
  kind: "content" as const,
  spanId,
  prompt: content.prompt ?? null,
  arguments: content.arguments ?? null,
  result: content.result ?? null,
  answer: content.answer ?? null,
});
