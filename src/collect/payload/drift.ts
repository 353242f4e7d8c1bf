import type { Agent, KnownNames } from "#core/model/agent.ts";
import type { IntakeFacts } from "#core/model/intake-facts.ts";
import type { UnknownName } from "#store/self.ts";

/** Unknown names with their number, by kind and name. */
export type UnknownNames = ReadonlyMap<string, UnknownName & { readonly count: number }>;

/**
 * Names in a payload that the agent's card does not know: the event, the top-level members, and deeper ones if the card reads
 * them; otherwise they can be content.
 *
 * @returns empty if the card declares no names
 */
export function unknownNamesIn({ known }: Agent, payload: unknown, intake: IntakeFacts): UnknownNames {
  if (known === undefined || typeof payload !== "object" || payload === null || Array.isArray(payload)) return NOTHING;
  const native = nativeEvent(known, payload, intake);
  const unknown = new Map<string, UnknownName & { readonly count: number }>();
  const add = (kind: UnknownName["kind"], name: string): void => {
    unknown.set(`${kind} ${name}`, { kind, name, count: 1 });
  };
  if (native !== undefined && !isAmong(known.events, native)) add("event", native);
  for (const name of known.unknownWithin?.(payload) ?? []) add("field", name);
  for (const name in payload) {
    if (!isAmong(known.fields, name)) add("field", name);
    if (unknown.size >= NAMES_PER_PAYLOAD) break;
  }
  return unknown;
}

/**
 * Why a payload without events is not needed: the card's name of its event.
 *
 * @returns `undefined` if the card does not say so
 */
export function notNeededEvent({ known }: Agent, payload: unknown, intake: IntakeFacts): string | undefined {
  if (known?.notNeeded === undefined || typeof payload !== "object" || payload === null) return undefined;
  const native = nativeEvent(known, payload, intake);
  return native === undefined ? undefined : known.notNeeded.find((name) => plain(name) === plain(native));
}

/** The event's name in a payload, or on the command line. */
export const nativeEvent = (known: KnownNames, payload: object, intake: IntakeFacts): string | undefined =>
  known.eventOf?.(payload, intake) ?? namedEvent(payload) ?? intake.event;

/** Kinds of transcript records that the reader does not know, with their number. @param unread those with token usage */
export const unknownRecordKinds = (
  kinds: ReadonlyMap<string, number> = new Map(),
  unread: ReadonlyMap<string, number> = new Map(),
): UnknownNames => new Map([...namedBy("record", kinds), ...namedBy("usage", unread)]);

// --- internal ---

const NOTHING: UnknownNames = new Map();

const namedBy = (kind: UnknownName["kind"], counts: ReadonlyMap<string, number>) =>
  [...counts].map(([name, count]) => [`${kind} ${name}`, { kind, name, count }] as const);
/** A hostile payload can have any number of members. */
const NAMES_PER_PAYLOAD = 50;

/** The member in which most agents name the event. */
function namedEvent(payload: object): string | undefined {
  const named = (payload as { hook_event_name?: unknown }).hook_event_name;
  return typeof named === "string" && named !== "" ? named : undefined;
}

/** Agents write the same names in snake case and in camel case. */
const plain = (name: string): string => name.replaceAll(/[_-]/g, "").toLowerCase();

const SETS = new WeakMap<readonly string[], ReadonlySet<string>>();

function isAmong(names: readonly string[], name: string): boolean {
  const known = SETS.get(names) ?? new Set(names.map(plain));
  SETS.set(names, known);
  return known.has(plain(name));
}
