// What a newer version of an agent does differently from the recordings that its card was made from.
import type { Agent } from "#core/model/agent.ts";
import type { FileNames, Sent, SentByEvent } from "./observe.ts";

/** Agents write the same names in snake case and in camel case. */
export const plain = (name: string): string => name.replaceAll(/[_-]/g, "").toLowerCase();

/** One difference. */
export interface Difference {
  readonly change: "new" | "gone" | "changed";
  readonly what: "event" | "field" | "value" | "file" | "figure";
  readonly name: string;
  /** The events or figures that we produce depend on it. */
  readonly isUsed: boolean;
}

/** What the recordings have, and what the newer version sent in the live scenarios. */
export interface Runs<T> {
  readonly before: T;
  readonly now: T;
}

/**
 * Differences in payloads.
 *
 * @param expected what every version must send in these scenarios, such as the events of a basic session; only what is in all
 *        payloads of an event can be gone
 */
export function comparePayloads(
  agent: Agent,
  { before, now }: Runs<SentByEvent>,
  expected: SentByEvent,
): readonly Difference[] {
  const found: Difference[] = [];
  const known = new Set((agent.known?.events ?? []).map(plain));
  for (const event of now.keys()) {
    if (!known.has(plain(event))) found.push({ change: "new", what: "event", name: event, isUsed: false });
  }
  for (const [event, sent] of expected) {
    // Recordings also have events that `enable` does not register
    if (now.has(event) || !isConverted(agent, sent)) continue;
    found.push({ change: "gone", what: "event", name: event, isUsed: true });
  }
  for (const [event, sent] of now) {
    found.push(
      ...compareFields(agent, event, { before: before.get(event) ?? [], now: sent }, expected.get(event) ?? []),
    );
  }
  return found;
}

/**
 * Differences in session files. Whether what we read of them is complete is shown by the figures, so none counts as used.
 *
 * @param expected names that every version must write in these scenarios
 */
export function compareFiles({ before, now }: Runs<FileNames>, expected: FileNames): readonly Difference[] {
  if (before.size === 0 || now.size === 0) return [];
  const isMissing = (kind: string, name: string): boolean => now.get(kind)?.has(name) === false;
  const gone = [...expected].flatMap(([kind, names]): readonly Difference[] => {
    if (!now.has(kind)) return [{ change: "gone", what: "file", name: kind, isUsed: false }];
    return [...names]
      .filter((name) => isMissing(kind, name))
      .map((name) => ({ change: "gone", what: "file", name: `${kind}: ${name}`, isUsed: false }));
  });
  const added = [...now].flatMap(([kind, names]): readonly Difference[] => {
    const known = before.get(kind);
    if (known === undefined) return [{ change: "new", what: "file", name: kind, isUsed: false }];
    return [...names]
      .filter((name) => !known.has(name))
      .map((name) => ({ change: "new", what: "file", name: `${kind}: ${name}`, isUsed: false }));
  });
  return [...gone, ...added];
}

// --- internal ---

/** A field's values are listed if it has at most this many, all of them codes. */
const MAX_VALUES = 12;
const CODE = /^[A-Za-z][A-Za-z_.:-]{0,39}$/;

function compareFields(
  agent: Agent,
  event: string,
  { before, now }: Runs<readonly Sent[]>,
  simple: readonly Sent[],
): readonly Difference[] {
  const found: Difference[] = [];
  const known = new Set((agent.known?.fields ?? []).map(plain));
  const fieldsOf = (sent: readonly Sent[]) => new Set(sent.flatMap(({ payload }) => Object.keys(payload)));
  const [old, current] = [fieldsOf(before), fieldsOf(now)];
  for (const field of current) {
    const name = `${event}.${field}`;
    if (!known.has(plain(field)) && !old.has(field)) {
      found.push({ change: "new", what: "field", name, isUsed: false });
      continue;
    }
    if (!old.has(field)) continue;
    const isUsed = changesEvents(agent, before, field);
    const [types, newTypes] = [typesOf(before, field), typesOf(now, field)];
    if (types.size > 0 && newTypes.size > 0 && [...newTypes].every((type) => !types.has(type))) {
      const text = `${name}: ${[...types].join(" or ")} is now ${[...newTypes].join(" or ")}`;
      found.push({ change: "changed", what: "field", name: text, isUsed });
    }
    const values = codesOf(before, field);
    for (const value of values === undefined ? [] : (codesOf(now, field) ?? [])) {
      if (values?.has(value) === false)
        found.push({ change: "new", what: "value", name: `${name} = ${value}`, isUsed: false });
    }
  }
  for (const field of old) {
    if (current.has(field) || simple.length === 0 || !simple.every(({ payload }) => hasValue(payload, field))) continue;
    found.push({
      change: "gone",
      what: "field",
      name: `${event}.${field}`,
      isUsed: changesEvents(agent, before, field),
    });
  }
  return found;
}

const memberOf = (payload: object, field: string): unknown => (payload as Record<string, unknown>)[field];
const hasValue = (payload: object, field: string): boolean => (memberOf(payload, field) ?? undefined) !== undefined;

const typesOf = (sent: readonly Sent[], field: string): ReadonlySet<string> =>
  new Set(
    sent.flatMap(({ payload }) => {
      const value = memberOf(payload, field);
      return value === undefined || value === null ? [] : [Array.isArray(value) ? "array" : typeof value];
    }),
  );

/** The values of a field whose values are codes; `undefined` for any other. */
function codesOf(sent: readonly Sent[], field: string): ReadonlySet<string> | undefined {
  const values = new Set<string>();
  if (/id$/i.test(field)) return undefined;
  for (const { payload } of sent) {
    const value = memberOf(payload, field) ?? undefined;
    if (value === undefined) continue;
    if (typeof value !== "string" || !CODE.test(value)) return undefined;
    values.add(value);
  }
  return values.size <= MAX_VALUES ? values : undefined;
}

const isConverted = (agent: Agent, sent: readonly Sent[]): boolean =>
  sent.some(({ payload, facts }) => agent.toEvents(payload, facts).length > 0);

/** Whether our events differ without the field. Ids are not compared, because they are derived from whole payloads. */
const changesEvents = (agent: Agent, sent: readonly Sent[], field: string): boolean =>
  sent.some(({ payload, facts }) => {
    const { [field]: _, ...rest } = payload as Record<string, unknown>;
    const made = (of: object) => [agent.toEvents(of, facts), agent.toEntries?.(of, facts) ?? []];
    return withoutIds(made(payload)) !== withoutIds(made(rest));
  });

const withoutIds = (made: unknown): string =>
  JSON.stringify(made, (name, value: unknown) => (name === "id" || name === "key" ? undefined : value));
