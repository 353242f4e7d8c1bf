// OpenHook v0.1, read 2026-11-21

import type { IntakeFacts } from "../../model/agent.ts";
import { defined } from "../../model/defined.ts";
import { dataFieldsOf, Envelope } from "../../model/envelope.ts";
import { OPENHOOK_VERSION } from "../../model/envelope-types.ts";
import { type Event, timeMsOf } from "../../model/event.ts";
import { Extras } from "../../model/event-schema.ts";
import type { EntryOf, TranscriptEntry } from "../../model/transcript.ts";
import { eventId, payloadDigest } from "../shared/payload/identity.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import { versionOf } from "./version.ts";

/**
 * Accepts an envelope as it is. Small errors are corrected if no value has to be invented: a missing time becomes the time of
 * receipt, a time without zone is UTC, a missing id is derived from the content, fields that do not fit are dropped.
 *
 * @returns `[]` without a session, type or source, or for a type that version 0.1 does not define
 */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  if (p === undefined) return [];
  const version = versionOf(p) ?? "";
  const corrected = {
    ...p,
    openhook: VERSION.test(version) ? version : OPENHOOK_VERSION,
    id: asString(p["id"]) ?? eventId("openhook", payloadDigest(payload)),
    time: timeOf(p["time"], intake.timeMs),
    cwd: asString(p["cwd"]),
    data: fitting(p["type"], p["data"]),
    extensions: storable(p["extensions"]),
  };
  const envelope = Envelope.safeParse(defined(corrected));
  return envelope.success ? [envelope.data] : [];
}

/**
 * Sums from a session's end. All ends of a session share one key, so they are never added up. If one of the two sums is missing,
 * there is no usage.
 */
export function toEntries(payload: unknown, intake: IntakeFacts): readonly TranscriptEntry[] {
  const [event] = toEvents(payload, intake);
  if (event?.type !== "session.end") return [];
  const { input_tokens: input, output_tokens: output, duration_ms: durationMs, model } = event.data ?? {};
  if (input === undefined || output === undefined) return [];
  const endMs = timeMsOf(event);
  return [
    {
      kind: "model_call",
      key: "openhook:session",
      timeMs: endMs,
      startMs: endMs - (durationMs ?? 0),
      endMs,
      usage: { input, output },
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
  const option = Envelope.options.find((o) => o.shape.type.value === type);
  if (option === undefined) {
    const name = type !== undefined && TYPE_NAME.test(type) ? ` ${type}` : "";
    lines.push(`OpenHook ${OPENHOOK_VERSION} has no event type${name}; the envelope was dropped`);
    return lines;
  }
  const missing = ["session_id", "source"].filter((name) => asString(p[name]) === undefined);
  if (missing.length > 0) lines.push(`an envelope has no ${missing.join(" and no ")}; it was dropped`);
  if (asString(p["id"]) === undefined) lines.push("an envelope has no id; its id was derived from its content");
  const time = asString(p["time"]);
  if (time === undefined || msOf(time) === undefined)
    lines.push("an envelope has no time; the time of receipt is used");
  else if (!ZONED.test(time)) lines.push("an envelope's time has no zone; it was read as UTC");
  const given = asObject(p["data"]) ?? {};
  for (const [name, field] of Object.entries(dataFieldsOf(option))) {
    if (given[name] !== undefined && !isWritable(field, given[name])) {
      lines.push(`data.${name} of a ${type} envelope does not match the specification; the field was dropped`);
    }
  }
  return lines;
}

// --- internal ---

const VERSION = /^\d{1,4}\.\d{1,4}$/;
const TYPE_NAME = /^[a-z0-9_]{1,40}(?:\.[a-z0-9_]{1,40}){0,3}$/;
const ZONED = /(?:Z|:\d\d(?:[.,]\d+)? ?[+-]\d\d(?::?\d\d)?)$/i;

const isWritable = (field: { safeParse(value: unknown): { readonly success: boolean } }, value: unknown): boolean =>
  field.safeParse(rounded(value)).success;

/** The specification requires whole milliseconds and counts; some clocks send fractions. */
const rounded = (value: unknown): unknown =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : value;

/**
 * Extensions have a free form; values nested too deeply are dropped. If the event has a native name, one of our adapters added the
 * extensions. Otherwise they belong to the sender, even if a name equals one of ours.
 */
function storable(extensions: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    JSON.stringify(extensions);
  } catch {
    return undefined;
  }
  const given = asObject(extensions);
  if (given === undefined || typeof given["native_event"] === "string") return given;
  const entries = Object.entries(given);
  const conflicting = entries.filter(([name]) => Object.hasOwn(Extras.shape, name));
  if (conflicting.length === 0) return given;
  const others = entries.filter(([name]) => !Object.hasOwn(Extras.shape, name));
  return {
    ...Object.fromEntries(others),
    sender: { ...asObject(given["sender"]), ...Object.fromEntries(conflicting) },
  };
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

/** The data fields that fit their type; others are dropped one by one. */
function fitting(type: unknown, data: unknown): Record<string, unknown> | undefined {
  const option = Envelope.options.find((o) => o.shape.type.value === type);
  const given = asObject(data);
  if (option === undefined || given === undefined) return undefined;
  const fields = dataFieldsOf(option);
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = field.safeParse(rounded(given[name]));
      return value.success && value.data !== undefined ? [[name, value.data]] : [];
    }),
  );
}
