import { open } from "node:fs/promises";
import type { ContentPart } from "#core/model/content.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { callLine, firstLine } from "#core/rules/one-line.ts";
import { redactedContent } from "#store/capture/content.ts";
import type { StoredSession } from "#store/sessions.ts";
import { type ContentQuery, contentOfSession } from "./session-content.ts";
import { filesOfSession } from "./session-files.ts";

/**
 * The first prompt, call or answer of a session that contains a text, as one line; case-insensitive. Only for display: the caller must
 * neither store nor send it. Secrets are neither shown nor found.
 *
 * Most files do not contain the text at all, and looking at their bytes takes a tenth of the time that reading their records takes.
 *
 * @returns `undefined` if nothing contains it, or the time was over
 */
export async function foundIn(
  reader: TranscriptReader,
  session: StoredSession,
  text: string,
  { redact, ...query }: ContentQuery & { readonly redact: (text: string) => string },
): Promise<string | undefined> {
  const searched = text.toLowerCase();
  if (!(await mayContain(reader, session, searched, query))) return undefined;
  for await (const { content } of contentOfSession(reader, session, query)) {
    if (content.part === "result" || !textOf(content.value).toLowerCase().includes(searched)) continue;
    const line = lineWith(content.part, redactedContent(content.value, redact), searched);
    if (line !== undefined) return line;
  }
  return undefined;
}

// --- internal ---

const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

function lineWith(part: ContentPart, value: unknown, searched: string): string | undefined {
  const text = textOf(value);
  const at = text.toLowerCase().indexOf(searched);
  if (at < 0) return undefined;
  const summary = part === "arguments" ? callLine(value) : firstLine(value);
  if (summary?.toLowerCase().includes(searched)) return summary;
  // The line in which it is
  const from = text.lastIndexOf("\n", at) + 1;
  const around = text.slice(Math.max(from, at - CHARACTERS_BEFORE), at + searched.length + CHARACTERS_AFTER);
  return firstLine(around);
}

const CHARACTERS_BEFORE = 60;
const CHARACTERS_AFTER = 120;

/** Whether the bytes of a session's files contain the text. True for files that are no text, and for a text that JSON can escape. */
async function mayContain(
  reader: TranscriptReader,
  session: StoredSession,
  searched: string,
  { home, roots, hasTime }: ContentQuery,
): Promise<boolean> {
  const part = (searched.match(/[a-z0-9 _.,:=-]+/g) ?? []).reduce(
    (long, one) => (one.length > long.length ? one : long),
    "",
  );
  if (part.length < MIN_PART) return true;
  const path = session.transcriptPath;
  try {
    const files = await filesOfSession(reader, session, { home, roots, ...(path !== undefined && { path }) });
    for (const file of files) {
      if (!file.path.endsWith(".jsonl") || (await bytesContain(file.path, part, hasTime))) return true;
    }
  } catch {
    // The file was removed or cannot be read: the session has no content to find
  }
  return false;
}

/** Shorter parts are in every file. */
const MIN_PART = 3;

async function bytesContain(path: string, part: string, hasTime: () => boolean): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let kept = 0; hasTime(); ) {
      const { bytesRead } = await file.read(chunk, kept, CHUNK_BYTES - kept);
      if (bytesRead === 0) return false;
      const length = kept + bytesRead;
      // One byte per character is enough, because the part is ASCII
      if (chunk.toString("latin1", 0, length).toLowerCase().includes(part)) return true;
      kept = Math.min(length, part.length - 1);
      chunk.copy(chunk, 0, length - kept, length);
    }
    return false;
  } finally {
    await file.close();
  }
}

const CHUNK_BYTES = 1 << 20;
