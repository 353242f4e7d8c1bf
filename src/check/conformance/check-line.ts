import { isAbsolute, win32 } from "node:path";
import type * as z from "zod";
import { baseSchemaOf, envelopeSchemaOf } from "#collect/convert/text-schemas.ts";
import { Envelope } from "#core/model/envelope.ts";
import { ENVELOPE_TEXTS, type EnvelopeText, OPENHOOK_VERSION } from "#core/model/envelope-types.ts";
import { dataFieldsOf } from "#core/rules/envelope-fields.ts";

/** A note about one line; an error breaks conformance. No content except names of fields and types. */
export interface Note {
  readonly line: number;
  readonly level: "error" | "remark";
  readonly text: string;
}
type NoteText = Omit<Note, "line">;

/** One line of a stream, held against both texts. */
export interface CheckedLine {
  readonly notes: readonly NoteText[];
  /** Its source, if it names one. */
  readonly source?: string;
  /** Absent if it fits no text, and for types that a later version may define. */
  readonly envelope?: Envelope;
  /** The texts it conforms to. */
  readonly texts: readonly EnvelopeText[];
  /** Why it does not conform to the other text. */
  readonly others: ReadonlyMap<EnvelopeText, readonly string[]>;
}

/** @param text JSON */
export function checkLine(text: string): CheckedLine {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return failed("not JSON");
  }
  if (!isObject(value)) return failed("not a JSON object");
  const source = typeof value["source"] === "string" ? { source: value["source"] } : {};
  if (!("openhook" in value)) {
    return { ...failed("openhook is missing: this is not an OpenHook envelope"), ...source };
  }
  const faults = new Map(ENVELOPE_TEXTS.map((text) => [text, faultsIn(value, text)] as const));
  const texts = ENVELOPE_TEXTS.filter((text) => faults.get(text)?.length === 0);
  const parsed = texts.length === 0 ? undefined : Envelope.safeParse(value).data;
  return {
    ...source,
    notes: [...versionNotes(value), ...recommendationNotes(value), ...errorsOf(faults, texts), ...laterType(value)],
    texts,
    others: new Map([...faults].filter(([, found]) => found.length > 0)),
    ...(parsed !== undefined && { envelope: parsed }),
  };
}

// --- internal ---

type Line = Readonly<Record<string, unknown>>;

const failed = (reason: string): CheckedLine => ({
  notes: [{ level: "error", text: reason }],
  texts: [],
  others: new Map(ENVELOPE_TEXTS.map((text) => [text, [reason]])),
});

/** What keeps a line from conforming to one text. */
function faultsIn(value: Line, text: EnvelopeText): readonly string[] {
  const type = value["type"];
  const schema = typeof type === "string" ? envelopeSchemaOf(text, type) : undefined;
  if (schema !== undefined) return issuesOf(schema.safeParse(value));
  const rest = issuesOf(baseSchemaOf(text).safeParse(value));
  if (type === undefined) return [...rest, "type: is missing"];
  return isLater(value) ? rest : [...rest, `type: ${quoted(type)} is not a type of OpenHook v0.1${ofText(type, text)}`];
}

/** The other text may have the type. */
const ofText = (type: unknown, text: EnvelopeText): string =>
  ENVELOPE_TEXTS.some((known) => envelopeSchemaOf(known, String(type)) !== undefined) ? `, text ${text}` : "";

/** An unknown type in an envelope of another version, which may define it. */
const isLater = ({ type, openhook }: Line): boolean =>
  typeof type === "string" && /^[a-z0-9_]+(\.[a-z0-9_]+)+$/.test(type) && openhook !== OPENHOOK_VERSION;

const laterType = (value: Line): readonly NoteText[] =>
  isLater(value) && !Envelope.options.some(({ shape }) => shape.type.value === value["type"])
    ? [{ level: "remark", text: `type: ${quoted(value["type"])} is not a type of OpenHook v0.1` }]
    : [];

function issuesOf(parsed: z.ZodSafeParseResult<unknown>): readonly string[] {
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => {
    const path = issue.path.join(".");
    if (issue.code === "unrecognized_keys") return issue.keys.map((name) => `${quoted(name)} is not a member`);
    const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
    return [`${path}: ${isMissing ? "is missing" : issue.message}`];
  });
}

/** The faults of a line that fits no text: those in both texts, otherwise those of each. */
function errorsOf(
  faults: ReadonlyMap<EnvelopeText, readonly string[]>,
  texts: readonly EnvelopeText[],
): readonly NoteText[] {
  if (texts.length > 0) return [];
  const [first = [], second = []] = ENVELOPE_TEXTS.map((text) => faults.get(text) ?? []);
  const common = first.filter((fault) => second.includes(fault));
  const messages =
    common.length > 0
      ? common
      : ENVELOPE_TEXTS.flatMap((text) => (faults.get(text) ?? []).map((fault) => `text ${text}: ${fault}`));
  return messages.map((text) => ({ level: "error", text }));
}

const remark = (text: string): NoteText => ({ level: "remark", text });

function versionNotes({ openhook }: Line): readonly NoteText[] {
  const isOther = typeof openhook === "string" && /^\d+\.\d+$/.test(openhook) && openhook !== OPENHOOK_VERSION;
  return isOther ? [remark(`openhook: version ${openhook} is read as ${OPENHOOK_VERSION}`)] : [];
}

/** Recommendations, and rules that the specification has in words only. */
function recommendationNotes({ id, type, data, context }: Line): readonly NoteText[] {
  const fields = isObject(data) ? data : {};
  const { transcript_path: path, start_line: start, end_line: end, model } = fields;
  const option = Envelope.options.find(({ shape }) => shape.type.value === type);
  const known = option === undefined ? undefined : dataFieldsOf(option);
  const isWrite = type === "file.write";
  return [
    ...(typeof id === "string" && id !== "" && !UUID.test(id) ? [remark("id: is not a UUID")] : []),
    ...(typeof context === "string" && !URI.test(context) ? [remark("context: is not a URI")] : []),
    ...(typeof path === "string" && !isAbsolute(path) && !win32.isAbsolute(path)
      ? [remark("data.transcript_path: is not absolute")]
      : []),
    ...(isWrite && typeof start === "number" && typeof end === "number" && end < start
      ? [remark("data.end_line: is before data.start_line")]
      : []),
    ...(isWrite && typeof model === "string" && !/^[^/\s]+\/\S+$/.test(model)
      ? [remark("data.model: is not provider/model")]
      : []),
    ...Object.keys(fields)
      .filter((name) => known !== undefined && !Object.hasOwn(known, name))
      .map((name) =>
        remark(`data: ${quoted(name)} is not a field of this type; vendor fields belong under extensions`),
      ),
  ];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const URI = /^[a-z][a-z0-9+.-]*:\S*$/i;

const isObject = (value: unknown): value is Line =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An untrusted name: shortened, on one line. */
function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
}
const MAX_QUOTED = 40;
