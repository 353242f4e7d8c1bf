import type { ShownContent } from "#core/model/content.ts";
import { spanIdOf } from "#core/telemetry/ids.ts";
import { sumOfAll } from "#kit/numbers.ts";
import type { SessionView } from "../../report/session-view.ts";
import { linesOfSpans } from "../../report/story.ts";
import type { ReadLines } from "../deps.ts";

/** What was asked and done, and which files were written, by span. @param read `undefined`: nothing may be shown */
export function toLines(view: SessionView, read: ReadLines | undefined) {
  const bySpan = [...linesOfSpans(view, read?.lines ?? [])];
  return {
    kind: "lines" as const,
    state: stateOf(view, read),
    /** Span ids, concatenated. */
    ids: bySpan.map(([id]) => id).join(""),
    texts: bySpan.map(([, { text }]) => text),
    /** For each call the files that it wrote, by time. */
    writes: read === undefined ? [] : writesOf(view),
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

// --- internal ---

/** `missing`: the agent's files are gone, or have nothing of this session; `part`: there was no time to read all of them. */
function stateOf(
  { turnList, toolCalls }: SessionView,
  read: ReadLines | undefined,
): "hidden" | "missing" | "part" | "whole" {
  if (read === undefined) return "hidden";
  if (!read.isWhole) return "part";
  return read.lines.length === 0 && turnList.length + toolCalls.length > 0 ? "missing" : "whole";
}

/** One entry for each call and file. */
const writesOf = ({ facts, toolCalls }: SessionView) =>
  toolCalls.flatMap(({ tool: { callId, status, files = [], linesAdded, linesRemoved } }) => {
    if (status !== "success") return [];
    const span = spanIdOf(facts, "tool_call", callId);
    const paths = [...new Set(files.map(({ path }) => path))];
    // What a call changed in all is what it changed in its only file
    const isOnly = paths.length === 1;
    return paths.map((path) => {
      const writes = files.filter((file) => file.path === path);
      return {
        span,
        path,
        /** `null`, here and below: unknown. */
        operation: writes[0]?.operation ?? null,
        added: sumOfAll(...writes.map(({ added }) => added)) ?? (isOnly ? linesAdded : undefined) ?? null,
        removed: sumOfAll(...writes.map(({ removed }) => removed)) ?? (isOnly ? linesRemoved : undefined) ?? null,
      };
    });
  });
