import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import type { UnreadTranscript } from "#store/failures.ts";

/** The most sessions that are checked. More would make a report slow without new information. */
export const MAX_CHECKED = 50;

/** Transcripts that were not read, and the command that allows their folders; absent if that would not help. */
export interface Unread {
  readonly transcripts: readonly UnreadTranscript[];
  readonly allow?: string;
}

/** What was read of a session's transcript. */
export interface ReadTranscript {
  /** Absent: none was named, or it does not exist. */
  readonly unread?: Unread;
  /** How its usage is written, if that was recognised without knowledge of the agent. */
  readonly shapes: readonly string[];
  readonly isRead: boolean;
  /** The program is not known, so its transcript is read by its shape. */
  readonly isByShape: boolean;
}

/** One sentence for `show`; empty if there is nothing to say. */
export function transcriptText({ unread, shapes, isRead, isByShape }: ReadTranscript): string {
  if (unread !== undefined) return unreadText(unread);
  if (isByShape && isRead && shapes.length === 0)
    return "tokens unknown: the transcript was read, and nothing in it shows the usage of calls or a running total";
  return shapes.length === 0
    ? ""
    : `transcript read by its shape: ${shapes.map((one) => SHAPES.get(one) ?? one).join(", ")}`;
}

/** The same for `show --json`. */
export const transcriptJson = ({ unread, shapes, isRead }: ReadTranscript) => ({
  read: isRead,
  shapes,
  unread_reason: unread?.transcripts[0]?.reason ?? null,
  allow_command: unread?.allow ?? null,
});

/** The same as `unreadText` for `report --json`. */
export const unreadJson = (unread: Unread | undefined) => ({
  unread_transcripts: (unread?.transcripts ?? []).map(({ session, path, reason }) => ({
    source: session.source,
    session_id: session.sessionId,
    path,
    reason,
  })),
  allow_command: unread?.allow ?? null,
});

/** One sentence for `report`. */
export function unreadText({ transcripts, allow }: Unread): string {
  const sources = [...new Set(transcripts.map(({ session }) => session.source))].map(printable).join(", ");
  const n = transcripts.length;
  const sessions = n === MAX_CHECKED ? `at least ${n} sessions` : plural(n, "session");
  const remedy =
    allow === undefined ? "" : `. To read ${n === 1 ? "it" : "them"}: ${printable(allow)}, then ${suggest("drain")}`;
  return `tokens unknown: the transcript of ${sessions} (${sources}) was not read: ${printable(transcripts[0]?.reason ?? "")}${remedy}`;
}

// --- internal ---

const SHAPES: ReadonlyMap<string, string> = new Map([
  ["anthropic-messages", "Anthropic Messages"],
  ["openai-chat", "OpenAI Chat Completions"],
  ["openai-responses", "OpenAI Responses"],
  ["gemini", "Gemini"],
  ["vercel-ai-sdk", "Vercel AI SDK"],
  ["gen-ai-attributes", "GenAI attributes"],
]);
