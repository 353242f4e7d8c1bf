// OpenHook v0.1, read 2026-11-21

import type { IntakeFacts, Recognition } from "../../model/agent.ts";
import { defined } from "../../model/defined.ts";
import { Envelope } from "../../model/envelope.ts";
import type { Event } from "../../model/event.ts";
import { eventId, payloadDigest } from "../shared/identity.ts";
import { asObject, asString } from "../shared/json.ts";

/** The version's presence is the specification's own mark of a conforming envelope: nothing is left to guess. */
export const recognises = (payload: unknown): Recognition =>
  asString(asObject(payload)?.["openhook"]) === undefined ? "no" : "certain";

/**
 * An envelope is taken as it is; small faults of its sender are mended, as far as nothing must be invented: a missing
 * time is that of receipt, a time without zone is UTC, a missing id is made from the content, fields that do not fit
 * are left out.
 *
 * @returns `[]` for what has no session, type or source, or a type that version 0.1 does not define
 */
export function toEvents(payload: unknown, intake: IntakeFacts): readonly Event[] {
  const p = asObject(payload);
  if (p === undefined) return [];
  const mended = {
    ...p,
    openhook: /^\d+\.\d+$/.test(String(p["openhook"])) ? p["openhook"] : "0.1",
    id: asString(p["id"]) ?? eventId("openhook", payloadDigest(payload)),
    time: timeOf(p["time"], intake.timeMs),
    data: fitting(p["type"], p["data"]),
    extensions: storable(p["extensions"]),
  };
  const { data } = mended;
  const envelope = Envelope.safeParse(defined(mended));
  if (envelope.success) return [envelope.data];
  // Something optional beside data is wrong: what is required still counts
  const { openhook, id, time } = mended;
  const bare = Envelope.safeParse({
    openhook,
    id,
    time,
    source: p["source"],
    type: p["type"],
    session_id: p["session_id"],
    ...(data !== undefined && { data }),
  });
  return bare.success ? [bare.data] : [];
}

// --- internal ---

/** Extensions are free in form; what is nested deeper than anything can write down is left out. */
function storable(extensions: unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    JSON.stringify(extensions);
    return asObject(extensions);
  } catch {
    return undefined;
  }
}

function timeOf(value: unknown, receivedMs: number): string {
  const text = asString(value);
  const zoned = text === undefined || /(?:Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`;
  const ms = zoned === undefined ? Number.NaN : Date.parse(zoned);
  return new Date(Number.isFinite(ms) ? ms : receivedMs).toISOString();
}

/** The data fields that fit their type; others are dropped one by one. */
function fitting(type: unknown, data: unknown): Record<string, unknown> | undefined {
  const option = Envelope.options.find((o) => o.shape.type.value === type);
  const given = asObject(data);
  if (option === undefined || given === undefined) return undefined;
  const fields = option.shape.data.unwrap().shape;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const value = field.safeParse(given[name]);
      return value.success && value.data !== undefined ? [[name, value.data]] : [];
    }),
  );
}
