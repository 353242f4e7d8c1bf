import { valuesIn } from "#collect/convert/input.ts";
import { type Discovery, subscribed } from "#config/discovery.ts";
import type { Envelope } from "#core/model/envelope.ts";
import { ENVELOPE_TEXTS, type EnvelopeText, LIFECYCLE_TYPES } from "#core/model/envelope-types.ts";
import { type CheckedLine, checkLine, type Note } from "./check-line.ts";

/** Conformance of one source's part of a stream to one text. */
export interface TextReport {
  readonly text: EnvelopeText;
  /** 0: it does not conform. */
  readonly level: 0 | 1 | 2 | 3;
  /** What the next level requires and the stream does not show. */
  readonly missing: readonly string[];
}

/** Conformance of one source's part of a stream. */
export interface SourceReport {
  readonly source: string;
  readonly envelopes: number;
  readonly texts: readonly TextReport[];
  /** The highest level of the texts. */
  readonly level: TextReport["level"];
}

/** The result of a check. */
export interface StreamReport {
  readonly notes: readonly Note[];
  readonly envelopes: number;
  /** The texts that each line conforms to, in the input's order. */
  readonly lines: readonly { readonly line: number; readonly texts: readonly EnvelopeText[] }[];
  readonly sources: readonly SourceReport[];
}

/**
 * Checks a stream of envelopes against both texts of OpenHook v0.1: one JSON object per line, or a single one over several lines.
 *
 * The specification's levels, the same in both texts: 1 `session.end` with all required fields; 2 also `session.start`,
 * `prompt.submit`, `tool.start` and `tool.end`; 3 also discovery through `.openhook.json`, which a stream alone cannot show.
 *
 * @param discovery the file through which the events came
 * @see OpenHook v0.1 §2, §3 and §6
 */
export function validate(input: Buffer, discovery: Discovery | undefined): StreamReport {
  const notes: Note[] = [];
  const lines: { line: number; texts: readonly EnvelopeText[] }[] = [];
  const stream = new Stream();
  for (const { line, bytes } of valuesIn(input)) {
    const found = checkLine(bytes.toString("utf8"));
    notes.push(...found.notes.map((note) => ({ line, ...note })));
    lines.push({ line, texts: found.texts });
    stream.addFaults(line, found);
    if (found.envelope !== undefined) notes.push(...stream.add(line, found.envelope));
  }
  return { notes, lines, envelopes: stream.count, sources: stream.reports(discovery) };
}

// --- internal ---

interface SourceState {
  readonly types: Set<string>;
  readonly startedCalls: Set<string>;
  count: number;
  endsWithoutTranscript: number;
  /** Of each text, the first line that does not conform to it, and the number of such lines. */
  readonly faults: Map<EnvelopeText, { readonly line: number; readonly fault: string; count: number }>;
}

/** Checks across lines. */
class Stream {
  readonly #sources = new Map<string, SourceState>();
  /** Line and text of each id. */
  readonly #ids = new Map<string, { readonly line: number; readonly text: string }>();
  count = 0;
  /** There are lines without a source, so the stream as a whole does not conform. */
  #hasLinesWithoutSource = false;

  /** Notes to which texts a line does not conform. */
  addFaults(line: number, { source, others, texts }: CheckedLine): void {
    if (source === undefined) {
      this.#hasLinesWithoutSource ||= texts.length === 0;
      return;
    }
    for (const [text, faults] of others) this.#fails(source, text, line, faults[0] ?? "");
  }

  /** Adds an envelope. @returns what is wrong or odd about it beside the earlier ones */
  add(line: number, envelope: Envelope): readonly Note[] {
    const source = this.#stateOf(envelope.source);
    this.count++;
    source.count++;
    source.types.add(envelope.type);
    return [...this.#repeated(line, envelope), ...this.#unpaired(line, envelope, source)];
  }

  reports(discovery: Discovery | undefined): readonly SourceReport[] {
    return [...this.#sources].map(([source, state]) => {
      const texts = ENVELOPE_TEXTS.map((text) => ({
        text,
        ...levelOf(state, text, this.#hasLinesWithoutSource, discovery),
      }));
      const level = texts.reduce<TextReport["level"]>((most, report) => (report.level > most ? report.level : most), 0);
      return { source, envelopes: state.count, texts, level };
    });
  }

  #fails(source: string, text: EnvelopeText, line: number, fault: string): void {
    const { faults } = this.#stateOf(source);
    const known = faults.get(text);
    if (known === undefined) faults.set(text, { line, fault, count: 1 });
    else known.count++;
  }

  #repeated(line: number, envelope: Envelope): readonly Note[] {
    const text = JSON.stringify(envelope);
    const known = this.#ids.get(envelope.id);
    if (known === undefined) {
      this.#ids.set(envelope.id, { line, text });
      return [];
    }
    if (known.text === text) return [{ line, level: "remark", text: `id: the same event as in line ${known.line}` }];
    const fault = `id: line ${known.line} uses it for another event`;
    for (const specification of ENVELOPE_TEXTS) this.#fails(envelope.source, specification, line, fault);
    return [{ line, level: "error", text: fault }];
  }

  #unpaired(line: number, envelope: Envelope, source: SourceState): readonly Note[] {
    if (envelope.type === "session.end" && envelope.data?.transcript_path === undefined) source.endsWithoutTranscript++;
    if (envelope.type !== "tool.start" && envelope.type !== "tool.end" && envelope.type !== "file.write") return [];
    const call = envelope.data?.tool_call_id;
    if (call === undefined) return [];
    const key = JSON.stringify([envelope.session_id, call]);
    if (envelope.type === "tool.start") source.startedCalls.add(key);
    else if (!source.startedCalls.has(key)) {
      return [{ line, level: "remark", text: "data.tool_call_id: no earlier tool.start has it" }];
    }
    return [];
  }

  #stateOf(source: string): SourceState {
    const known = this.#sources.get(source);
    if (known !== undefined) return known;
    const state: SourceState = {
      types: new Set(),
      startedCalls: new Set(),
      count: 0,
      endsWithoutTranscript: 0,
      faults: new Map(),
    };
    this.#sources.set(source, state);
    return state;
  }
}

function levelOf(
  source: SourceState,
  text: EnvelopeText,
  hasLinesWithoutSource: boolean,
  discovery: Discovery | undefined,
): Pick<TextReport, "level" | "missing"> {
  const fault = source.faults.get(text);
  if (fault !== undefined) {
    const more = fault.count === 1 ? "" : `, and ${fault.count - 1} more`;
    return { level: 0, missing: [`no errors (line ${fault.line}: ${fault.fault}${more})`] };
  }
  if (hasLinesWithoutSource) return { level: 0, missing: ["no lines without a source"] };
  if (!source.types.has("session.end")) return { level: 0, missing: ["a session.end"] };
  const absent = LIFECYCLE_TYPES.filter((type) => !source.types.has(type));
  const transcripts =
    source.endsWithoutTranscript === 0 ? [] : ["data.transcript_path on session.end, where there is a transcript"];
  if (absent.length > 0) return { level: 1, missing: [...absent.map((type) => `a ${type}`), ...transcripts] };
  if (discovery === undefined) {
    return { level: 2, missing: ["discovery through .openhook.json: name the file with --discovery <file>"] };
  }
  const subscriptions = subscribed(discovery);
  const unsubscribed = [...source.types].filter((type) => !subscriptions.has(type));
  return unsubscribed.length === 0
    ? { level: 3, missing: [] }
    : { level: 2, missing: [`hooks in .openhook.json for ${unsubscribed.join(", ")}`] };
}
