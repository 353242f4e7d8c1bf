import { isAbsolute, win32 } from "node:path";
import type * as z from "zod";
import { dataFieldsOf, Envelope } from "../model/envelope.ts";
import { LIFECYCLE_TYPES, OPENHOOK_VERSION } from "../model/envelope-types.ts";
import { type Discovery, subscribed } from "../registration/discovery.ts";
import { valuesIn } from "./input.ts";

/** A note about one line; an error breaks conformance. No content except names of fields and types. */
export interface Note {
  readonly line: number;
  readonly level: "error" | "remark";
  readonly text: string;
}

/** Conformance of one source's part of a stream. */
export interface SourceReport {
  readonly source: string;
  readonly envelopes: number;
  /** 0: it does not conform. */
  readonly level: 0 | 1 | 2 | 3;
  /** What the next level requires and the stream does not show. */
  readonly missing: readonly string[];
}

export interface StreamReport {
  readonly notes: readonly Note[];
  readonly envelopes: number;
  readonly sources: readonly SourceReport[];
}

/**
 * Checks a stream of envelopes, one JSON object per line, or a single one over several lines.
 *
 * Levels of the specification: 1 `session.end` with all required fields; 2 also `session.start`, `prompt.submit`, `tool.start` and
 * `tool.end`; 3 also discovery through `.openhook.json`, which a stream alone cannot show.
 *
 * @param discovery the file through which the events came
 * @see OpenHook v0.1 §2, §3 and §6
 */
export function validate(input: Buffer, discovery: Discovery | undefined): StreamReport {
  const notes: Note[] = [];
  const stream = new Stream();
  for (const { line, bytes } of valuesIn(input)) {
    const found = check(bytes.toString("utf8"));
    notes.push(...found.notes.map((note) => ({ line, ...note })));
    if (found.source !== undefined && found.notes.some(({ level }) => level === "error")) stream.fails(found.source);
    if (found.envelope !== undefined) notes.push(...stream.take(line, found.envelope));
    else if (found.source === undefined) stream.hasLinesWithoutSource = true;
  }
  return { notes, envelopes: stream.count, sources: stream.reports(discovery) };
}

// --- internal ---

type NoteText = Omit<Note, "line">;

interface Checked {
  readonly notes: readonly NoteText[];
  /** Its source, if it names one. */
  readonly source?: string;
  readonly envelope?: Envelope;
}

const error = (text: string): NoteText => ({ level: "error", text });
const remark = (text: string): NoteText => ({ level: "remark", text });

function check(text: string): Checked {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return { notes: [error("not JSON")] };
  }
  if (!isObject(value)) return { notes: [error("not a JSON object")] };
  const source = typeof value["source"] === "string" ? { source: value["source"] } : {};
  if (!("openhook" in value))
    return { ...source, notes: [error("openhook is missing: this is not an OpenHook envelope")] };
  const notes = [...versionNotes(value), ...recommendationNotes(value)];
  const option = Envelope.options.find((one) => one.shape.type.value === value["type"]);
  if (option === undefined) {
    // A later version may define it
    const isUnknown = typeof value["type"] === "string" && /^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(value["type"]);
    const note = isUnknown && value["openhook"] !== OPENHOOK_VERSION ? remark : error;
    const base = Envelope.options[0].omit({ type: true, data: true }).safeParse(value);
    const shown =
      value["type"] === undefined ? "is missing" : `${quoted(value["type"])} is not a type of OpenHook v0.1`;
    return { ...source, notes: [...notes, ...issuesOf(base), note(`type: ${shown}`)] };
  }
  const parsed = option.safeParse(value);
  return {
    ...source,
    notes: [...notes, ...issuesOf(parsed), ...unknownFields(value["data"], dataFieldsOf(option))],
    ...(parsed.success && { envelope: parsed.data }),
  };
}

function issuesOf(parsed: z.ZodSafeParseResult<unknown>): readonly NoteText[] {
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => {
    const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
    return error(`${issue.path.join(".")}: ${isMissing ? "is missing" : issue.message}`);
  });
}

function versionNotes({ openhook }: Readonly<Record<string, unknown>>): readonly NoteText[] {
  const isOther = typeof openhook === "string" && /^\d+\.\d+$/.test(openhook) && openhook !== OPENHOOK_VERSION;
  return isOther ? [remark(`openhook: version ${openhook} is read as ${OPENHOOK_VERSION}`)] : [];
}

/** Recommendations, and rules that the specification has in words only. */
function recommendationNotes({ id, data }: Readonly<Record<string, unknown>>): readonly NoteText[] {
  const path = isObject(data) ? data["transcript_path"] : undefined;
  return [
    ...(typeof id === "string" && id !== "" && !UUID.test(id) ? [remark("id: is not a UUID")] : []),
    ...(typeof path === "string" && !isAbsolute(path) && !win32.isAbsolute(path)
      ? [remark("data.transcript_path: is not absolute")]
      : []),
  ];
}

const unknownFields = (data: unknown, known: Readonly<Record<string, unknown>>): readonly NoteText[] =>
  Object.keys(isObject(data) ? data : {})
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => remark(`data: ${quoted(name)} is not a field of this type; vendor fields belong under extensions`));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An untrusted name: shortened, on one line. */
const quoted = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
};
const MAX_QUOTED = 40;

interface SourceState {
  readonly types: Set<string>;
  readonly startedCalls: Set<string>;
  count: number;
  endsWithoutTranscript: number;
  isBroken: boolean;
}

/** Checks across lines. */
class Stream {
  readonly #sources = new Map<string, SourceState>();
  /** Line and text of each id. */
  readonly #ids = new Map<string, { readonly line: number; readonly text: string }>();
  count = 0;
  /** There are lines without a source, so the stream as a whole does not conform. */
  hasLinesWithoutSource = false;

  fails(source: string): void {
    this.#of(source).isBroken = true;
  }

  take(line: number, envelope: Envelope): readonly Note[] {
    const of = this.#of(envelope.source);
    this.count++;
    of.count++;
    of.types.add(envelope.type);
    return [...this.#repeated(line, envelope), ...this.#unpaired(line, envelope, of)];
  }

  reports(discovery: Discovery | undefined): readonly SourceReport[] {
    return [...this.#sources].map(([source, of]) => ({
      source,
      envelopes: of.count,
      ...levelOf(of, this.hasLinesWithoutSource, discovery),
    }));
  }

  #repeated(line: number, envelope: Envelope): readonly Note[] {
    const text = JSON.stringify(envelope);
    const known = this.#ids.get(envelope.id);
    if (known === undefined) {
      this.#ids.set(envelope.id, { line, text });
      return [];
    }
    if (known.text === text) return [{ line, level: "remark", text: `id: the same event as in line ${known.line}` }];
    this.fails(envelope.source);
    return [{ line, level: "error", text: `id: line ${known.line} uses it for another event` }];
  }

  #unpaired(line: number, envelope: Envelope, of: SourceState): readonly Note[] {
    if (envelope.type === "session.end" && envelope.data?.transcript_path === undefined) of.endsWithoutTranscript++;
    if (envelope.type !== "tool.start" && envelope.type !== "tool.end") return [];
    const call = envelope.data?.tool_call_id;
    if (call === undefined) return [];
    const key = JSON.stringify([envelope.session_id, call]);
    if (envelope.type === "tool.start") of.startedCalls.add(key);
    else if (!of.startedCalls.has(key)) {
      return [{ line, level: "remark", text: "data.tool_call_id: no earlier tool.start has it" }];
    }
    return [];
  }

  #of(source: string): SourceState {
    const known = this.#sources.get(source);
    if (known !== undefined) return known;
    const state: SourceState = {
      types: new Set(),
      startedCalls: new Set(),
      count: 0,
      endsWithoutTranscript: 0,
      isBroken: false,
    };
    this.#sources.set(source, state);
    return state;
  }
}

function levelOf(
  of: SourceState,
  hasLinesWithoutSource: boolean,
  discovery: Discovery | undefined,
): Pick<SourceReport, "level" | "missing"> {
  if (of.isBroken || hasLinesWithoutSource) return { level: 0, missing: ["no errors"] };
  if (!of.types.has("session.end")) return { level: 0, missing: ["a session.end"] };
  const absent = LIFECYCLE_TYPES.filter((type) => !of.types.has(type));
  const transcripts =
    of.endsWithoutTranscript === 0 ? [] : ["data.transcript_path on session.end, where there is a transcript"];
  if (absent.length > 0) return { level: 1, missing: [...absent.map((type) => `a ${type}`), ...transcripts] };
  if (discovery === undefined) {
    return { level: 2, missing: ["discovery through .openhook.json: name the file with --discovery <file>"] };
  }
  const subscriptions = subscribed(discovery);
  const unsubscribed = [...of.types].filter((type) => !subscriptions.has(type));
  return unsubscribed.length === 0
    ? { level: 3, missing: [] }
    : { level: 2, missing: [`hooks in .openhook.json for ${unsubscribed.join(", ")}`] };
}
