import type {
  Content,
  ContentLine,
  ContentPart,
  ContentUpdate,
  ShownContent,
  WantedContent,
} from "#core/model/content.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptReader } from "#core/model/transcript-reader.ts";
import { responseContentKey } from "#core/rules/keys.ts";
import { callLine, firstLine } from "#core/rules/one-line.ts";
import { redactedContent } from "#store/capture/content.ts";
import { limitContent, limitEntries } from "#store/capture/limit-fields.ts";
import type { StoredSession } from "#store/sessions.ts";
import { filesOfSession } from "./session-files.ts";

/** Where to read a session's content. */
export interface ContentQuery {
  readonly home: string;
  /** Folders of its agent. Files outside them are not read. */
  readonly roots: readonly string[];
  /** Asked before each batch; false ends the reading. */
  readonly hasTime: () => boolean;
}

/** A record of a transcript that has content. */
export type ContentOwner = EntryOf<"prompt" | "tool_use" | "tool_result" | "model_call">;

export interface OwnedContent {
  readonly owner: ContentOwner;
  readonly content: Content;
}

/**
 * The content of one session, from the agent's own files, in their order. It is only for display: the caller must neither store nor
 * send it, and must take secrets out. Memory does not grow with the size of the texts.
 *
 * @returns whether everything was read; false without files, if the time was over, or if a file could not be read to its end
 */
export async function* contentOfSession(
  reader: TranscriptReader,
  session: StoredSession,
  { home, roots, hasTime }: ContentQuery,
): AsyncGenerator<OwnedContent, boolean> {
  const path = session.transcriptPath;
  try {
    const files = await filesOfSession(reader, session, { home, roots, ...(path !== undefined && { path }) });
    const owners = new Owners();
    for (const file of files) {
      for await (const batch of reader.read({ ...file, roots }, INITIAL_OFFSET, { content: true })) {
        yield* owners.add(limitEntries(batch.entries));
        for (const update of limitContent(batch.content ?? [])) yield* owners.owned(update);
        if (!hasTime()) return false;
      }
    }
    return files.length > 0;
  } catch {
    // The file was removed or cannot be read: what was read so far is shown
    return false;
  }
}

/** A session's content in one line for each prompt and tool call, without secrets. */
export async function contentLines(
  reader: TranscriptReader,
  session: StoredSession,
  { redact, ...query }: ContentQuery & { readonly redact: (text: string) => string },
): Promise<readonly ContentLine[]> {
  const lines: ContentLine[] = [];
  for await (const { owner, content } of contentOfSession(reader, session, query)) {
    if (!HAS_LINE.has(content.part)) continue;
    const text = lineOf(content.part, redactedContent(content.value, redact));
    if (text !== undefined) lines.push(...placed(owner, text));
  }
  return lines;
}

/** The content of one part of a session. @param shown takes out secrets and shortens */
export async function contentOfPart(
  reader: TranscriptReader,
  session: StoredSession,
  wanted: WantedContent,
  { shown, ...query }: ContentQuery & { readonly shown: (value: unknown) => string | undefined },
): Promise<ShownContent> {
  const found: { [P in ContentPart]?: string } = {};
  /** Pieces of the answer that was read last, each once. */
  let answer = { key: "", pieces: new Map<string, string>() };
  for await (const { owner, content } of contentOfSession(reader, session, query)) {
    const { part, piece = "", value } = content;
    if (!isWanted(owner, wanted)) continue;
    const text = part === "answer" ? answerText(value) : value;
    // Of a prompt in several records the first is what the user wrote
    const kept = text === undefined || (part === "prompt" && found.prompt !== undefined) ? undefined : shown(text);
    if (kept === undefined) continue;
    if (part !== "answer") found[part] = kept;
    else {
      if (answer.key !== owner.key) answer = { key: owner.key, pieces: new Map() };
      answer.pieces.set(piece, kept);
    }
  }
  return answer.pieces.size === 0 ? found : { ...found, answer: [...answer.pieces.values()].join("\n\n") };
}

// --- internal ---

function isWanted(owner: ContentOwner, wanted: WantedContent): boolean {
  switch (wanted.subject) {
    case "tool_call":
      return (owner.kind === "tool_use" || owner.kind === "tool_result") && owner.callId === wanted.key;
    case "model_call":
      return owner.kind === "model_call" && owner.key === wanted.key;
    case "turn":
      if (owner.kind === "prompt") return turnKeyOf(owner) === wanted.key;
      return (
        owner.kind === "model_call" &&
        owner.agentId === undefined &&
        // What the agent asks for itself, such as notes or a summary, is no answer to the user
        owner.purpose === undefined &&
        (owner.promptKey === undefined ? isWithin(owner, wanted) : owner.promptKey === wanted.key)
      );
  }
}

/** As turns are named: some agents name the prompt, others only its record. */
const turnKeyOf = ({ promptKey, key }: EntryOf<"prompt">): string => promptKey ?? key;

const isWithin = ({ timeMs }: ContentOwner, of: { readonly startMs: number; readonly endMs: number }): boolean =>
  timeMs >= of.startMs && timeMs <= of.endMs;

/** An answer's text; the calls in it are rows of their own. */
function answerText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || !("content" in value)) return undefined;
  return typeof value.content === "string" ? value.content : undefined;
}

const HAS_LINE: ReadonlySet<ContentPart> = new Set(["prompt", "arguments"]);

const lineOf = (part: ContentPart, value: unknown): string | undefined =>
  part === "arguments" ? callLine(value) : firstLine(value);

function placed(owner: ContentOwner, text: string): readonly ContentLine[] {
  const { timeMs, agentId } = owner;
  const of = { timeMs, text, ...(agentId !== undefined && { agentId }) };
  if (owner.kind === "prompt") return [{ ...of, subject: "turn", key: turnKeyOf(owner) }];
  return owner.kind === "tool_use" ? [{ ...of, subject: "tool_call", key: owner.callId, tool: owner.name }] : [];
}

/** Finds the record that a piece of content belongs to. Some agents write an answer's text before its record. */
class Owners {
  readonly #byKey = new Map<string, ContentOwner>();
  readonly #early = new Map<string, Content[]>();

  *add(entries: readonly TranscriptEntry[]): Generator<OwnedContent> {
    for (const entry of entries) {
      if (!hasContent(entry)) continue;
      this.#byKey.set(entry.key, entry);
      if (entry.kind !== "model_call" || entry.responseId === undefined) continue;
      const key = responseContentKey(entry.responseId);
      this.#byKey.set(key, entry);
      for (const content of this.#takeEarly(key)) yield { owner: entry, content };
    }
  }

  *owned(update: ContentUpdate): Generator<OwnedContent> {
    if ("claims" in update) {
      for (const piece of this.#takeEarly(update.claims)) yield* this.owned({ ...piece, fact: update.fact });
      return;
    }
    const owner = this.#byKey.get(update.fact);
    if (owner !== undefined) yield { owner, content: update };
    else if (this.#early.size < MAX_EARLY)
      this.#early.set(update.fact, [...(this.#early.get(update.fact) ?? []), update]);
  }

  #takeEarly(key: string): readonly Content[] {
    const pieces = this.#early.get(key) ?? [];
    this.#early.delete(key);
    return pieces;
  }
}

/** Agents write a record soon after its content. */
const MAX_EARLY = 100;

const hasContent = (entry: TranscriptEntry): entry is ContentOwner =>
  entry.kind === "prompt" || entry.kind === "tool_use" || entry.kind === "tool_result" || entry.kind === "model_call";
