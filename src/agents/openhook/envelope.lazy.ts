// OpenHook v0.1, both texts, read 2026-11-26

import { Envelope } from "#core/model/envelope.ts";
import { OPENHOOK_VERSION } from "#core/model/envelope-types.ts";
import type { Event } from "#core/model/event-schema.ts";
import { Extras, SignalEvent } from "#core/model/event-schema.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "#core/model/transcript.ts";
import { dataFieldsOf } from "#core/rules/envelope-fields.ts";
import { timeMsOf } from "#core/rules/event.ts";
import { isAbsolutePath, pathOfFileUri } from "#kit/file-uri.ts";
import { defined } from "#kit/objects.ts";
import { eventId, payloadDigest } from "../shared/payload/identity.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { versionOf } from "./version.ts";

/**
 * Accepts an envelope of either text. Small errors are corrected if no value has to be invented: a missing time becomes the time of
 * receipt, a time without zone is UTC, a missing id is derived from the content. What has no field here is kept under
 * `extensions.sender`: fields of other versions, values that do not fit, and envelopes of types that version 0.1 does not define,
 * which become notices.
 *
 * @returns `[]` without a session, type or source
 */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  if (p === undefined) return [];
  const version = versionOf(p) ?? "";
  const type = asString(p["type"]);
  const { cwd, context, replaced } = placeOf(p);
  const { data, rest } = fitting(type, p["data"]);
  const base = defined({
    id: asString(p["id"]) ?? eventId("openhook", payloadDigest(payload)),
    source: p["source"],
    time: timeOf(p["time"], intake.timeMs),
    session_id: p["session_id"],
    cwd,
    context,
  });
  const others = Object.entries(p).filter(([name]) => !ENVELOPE_FIELDS.has(name));
  const kept = (own: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | undefined => {
    const sender = { ...Object.fromEntries(others), ...own, ...(replaced !== undefined && { cwd: replaced }) };
    return storable(p["extensions"], Object.keys(sender).length > 0 ? sender : undefined);
  };
  const envelope = Envelope.safeParse(
    defined({
      ...base,
      openhook: VERSION.test(version) ? version : OPENHOOK_VERSION,
      type,
      data,
      extensions: kept(Object.keys(rest).length > 0 ? { data: rest } : {}),
    }),
  );
  if (envelope.success) return [envelope.data];
  if (type === undefined || !TYPE_NAME.test(type)) return [];
  const extensions = { ...kept(defined({ data: p["data"], context })), native_event: type };
  const notice = SignalEvent.safeParse({ ...base, type: "notice" });
  // A source that is no name is not accepted for known types either
  if (!notice.success || !SOURCE_NAME.test(notice.data.source)) return [];
  return [{ ...notice.data, extensions } as Event];
}

/**
 * Sums from a session's end. All ends of a session share one key, so they are never added up.
 */
export function toEntries(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[] {
  const [event] = toEvents(payload, intake);
  if (event?.type !== "session.end") return [];
  const { input_tokens: input, output_tokens: output, duration_ms: durationMs, model } = event.data ?? {};
  if (input === undefined && output === undefined) return [];
  const endMs = timeMsOf(event);
  return [
    {
      kind: "model_call",
      key: "openhook:session",
      timeMs: endMs,
      startMs: endMs - (durationMs ?? 0),
      endMs,
      usage: defined<TokenUsage>({ input, output }),
      complete: true,
      covers: "session",
      ...defined<Pick<EntryOf<"model_call">, "model">>({ model }),
    },
  ];
}

/** Log lines that the specification requires, and corrections. They contain names of fields and types, never content. */
export function remarks(payload: unknown): readonly string[] {
  const p = asObject(payload);
  const version = p === undefined ? undefined : versionOf(p);
  if (p === undefined || version === undefined) return [];
  const lines: string[] = [];
  if (!VERSION.test(version)) lines.push(`an envelope's version is invalid; read as ${OPENHOOK_VERSION}`);
  else if (version !== OPENHOOK_VERSION) {
    lines.push(`an envelope of OpenHook ${version} was read as ${OPENHOOK_VERSION}`);
  }
  const type = asString(p["type"]);
  if (type === undefined || !TYPE_NAME.test(type)) {
    lines.push(`OpenHook ${OPENHOOK_VERSION} has no event type; the envelope was dropped`);
    return lines;
  }
  const option = optionOf(type);
  if (option === undefined) {
    lines.push(`OpenHook ${OPENHOOK_VERSION} has no event type ${type}; the event is kept without effect`);
  }
  const missing = ["session_id", "source"].filter((name) => asString(p[name]) === undefined);
  if (missing.length > 0) lines.push(`an envelope has no ${missing.join(" and no ")}; it was dropped`);
  if (asString(p["id"]) === undefined) lines.push("an envelope has no id; its id was derived from its content");
  const time = asString(p["time"]);
  if (time === undefined || msOf(time) === undefined)
    lines.push("an envelope has no time; the time of receipt is used");
  else if (!ZONED.test(time)) lines.push("an envelope's time has no zone; it was read as UTC");
  if (placeOf(p).replaced !== undefined) lines.push("an envelope's cwd and context differ; context is used");
  const context = asString(p["context"]);
  if (context !== undefined && !/^[a-z][a-z0-9+.-]*:/i.test(context)) lines.push("an envelope's context is not a URI");
  else if (context !== undefined && /^file:/i.test(context) && pathOfFileUri(context) === undefined) {
    lines.push("an envelope's context is a file: URI without a usable path");
  }
  const given = asObject(p["data"]) ?? {};
  for (const [name, field] of Object.entries(option === undefined ? {} : dataFieldsOf(option))) {
    if (given[name] !== undefined && !isWritable(field, given[name])) {
      lines.push(`data.${name} of a ${type} envelope does not match the specification; it has no effect`);
    }
  }
  if (type === "file.write" && asString(given["path"]) === undefined) {
    lines.push("a file.write envelope has no path; the event is kept without effect");
  }
  return lines;
}

/** Fields of `data` that the type does not have. Their names are counted, so other texts than names are left out. */
export function unknownWithin(payload: object): readonly string[] {
  const { type, data } = payload as Readonly<Record<string, unknown>>;
  const option = optionOf(type);
  const given = asObject(data);
  if (option === undefined || given === undefined) return [];
  const fields = dataFieldsOf(option);
  return Object.keys(given)
    .filter((name) => !Object.hasOwn(fields, name) && /^[a-z][a-z0-9_]{0,39}$/i.test(name))
    .slice(0, MAX_UNKNOWN_FIELDS)
    .map((name) => `data.${name}`);
}

// --- internal ---

const MAX_UNKNOWN_FIELDS = 20;

const VERSION = /^\d{1,4}\.\d{1,4}$/;
const SOURCE_NAME = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/** Of both texts. */
const ENVELOPE_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(Envelope.options[0].shape).filter((name) => name !== "data"),
  "data",
]);
const TYPE_NAME = /^[a-z0-9_]{1,40}(?:\.[a-z0-9_]{1,40}){0,3}$/;
const ZONED = /(?:Z|:\d\d(?:[.,]\d+)? ?[+-]\d\d(?::?\d\d)?)$/i;

const isWritable = (field: { safeParse(value: unknown): { readonly success: boolean } }, value: unknown): boolean =>
  field.safeParse(rounded(value)).success;

/** The specification requires whole milliseconds and counts; some clocks send fractions. */
const rounded = (value: unknown): unknown =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : value;

const optionOf = (type: unknown): (typeof Envelope.options)[number] | undefined =>
  Envelope.options.find((option) => option.shape.type.value === type);

/** Where the sender worked. `replaced`: a `cwd` that is not the folder in `context`, which has precedence. */
function placeOf({ cwd, context }: Readonly<Record<string, unknown>>): {
  readonly cwd?: string | undefined;
  readonly context?: string | undefined;
  readonly replaced?: string;
} {
  const [folder, uri] = [asString(cwd), asString(context)];
  if (uri === undefined) return { cwd: folder };
  const path = pathOfFileUri(uri) ?? (isAbsolutePath(uri) ? uri : undefined);
  if (path === undefined) return { cwd: folder, context: uri };
  return { cwd: path, ...(folder !== undefined && !isSameFolder(folder, path) && { replaced: folder }) };
}

/** Separators, a trailing one, and the case of a drive letter make no difference. */
const isSameFolder = (a: string, b: string): boolean => plainFolder(a) === plainFolder(b);

const plainFolder = (path: string): string =>
  /^(?:[a-z]:|\\\\)/i.test(path)
    ? path
        .replace(/^[a-z]/, (letter) => letter.toUpperCase())
        .replaceAll("\\", "/")
        .replace(/\/+$/, "")
    : path.replace(/(?<=.)\/+$/, "");

/**
 * Extensions have a free form; values nested too deeply are dropped. If the event has a native name, one of our adapters added the
 * extensions. Otherwise they belong to the sender, even if a name equals one of ours.
 *
 * @param beyond further values of the sender, for which there is no field
 */
function storable(
  extensions: unknown,
  beyond: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const given = isStorable(extensions) ? asObject(extensions) : undefined;
  const isOurs = typeof given?.["native_event"] === "string";
  const entries = Object.entries(given ?? {});
  const isConflicting = ([name]: readonly [string, unknown]): boolean => !isOurs && Object.hasOwn(Extras.shape, name);
  const conflicting = entries.filter(isConflicting);
  if (conflicting.length === 0 && beyond === undefined) return given;
  return {
    ...Object.fromEntries(entries.filter((entry) => !isConflicting(entry))),
    sender: {
      ...asObject(given?.["sender"]),
      ...Object.fromEntries(conflicting),
      ...Object.fromEntries(Object.entries(beyond ?? {}).filter(([, value]) => isStorable(value))),
    },
  };
}

function isStorable(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
}

const timeOf = (value: unknown, receivedMs: number): string =>
  new Date(msOf(asString(value) ?? "") ?? receivedMs).toISOString();

/** ISO 8601, also as `date -Ins` and PostgreSQL write it: a comma before the fraction, a zone of hours only. */
function msOf(time: string): number | undefined {
  const point = time.replace(/(\d),(\d)/, "$1.$2");
  const zoned = ZONED.test(point) ? point.replace(/([+-]\d\d)$/, "$1:00") : `${point}Z`;
  const ms = Date.parse(zoned);
  return Number.isFinite(ms) ? ms : undefined;
}

/** The data fields that fit their type, and all others. */
function fitting(
  type: string | undefined,
  given: unknown,
): { readonly data?: Readonly<Record<string, unknown>>; readonly rest: Readonly<Record<string, unknown>> } {
  const option = optionOf(type);
  const data = asObject(given);
  if (option === undefined || data === undefined) return { rest: {} };
  const fields = dataFieldsOf(option);
  const [fit, rest]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}];
  for (const [name, value] of Object.entries(data)) {
    const parsed = Object.hasOwn(fields, name) ? fields[name]?.safeParse(rounded(value)) : undefined;
    if (parsed?.success === true) fit[name] = parsed.data;
    else if (name !== "__proto__") rest[name] = value;
  }
  return { data: fit, rest };
}
