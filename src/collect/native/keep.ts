import { createHash } from "node:crypto";
import type { NativeFacts, NativeIdKind, NativeRecord } from "#core/model/native.ts";
import {
  DURATION,
  type NativeRule,
  type NativeTable,
  type NativeUnit,
  type NumberRule,
  PARENT_SPAN,
  type ValueRule,
  type WordRule,
} from "#core/model/native-table.ts";
import type { RawRecord } from "./raw-record.ts";

/** What a table of names keeps of a record and, if it is a span, of its events. Pure. */
export function keep(raw: RawRecord, table: NativeTable): readonly NativeRecord[] {
  const rule = ruleFor(raw.name, raw.kind === "span" ? table.spans : table.logs);
  if (rule === undefined) return [];
  const { events, only } = rule;
  if (only !== undefined && !only.is.includes(String(raw.attribute(only.of)))) return [];
  const kept = keptOf(raw, rule, table);
  const inEvents = (events === undefined ? [] : (raw.events?.() ?? [])).map((event) => {
    const ruleOfEvent = ruleFor(event.name, events ?? {});
    return ruleOfEvent && keptOf(event, ruleOfEvent, table);
  });
  return [kept, ...inEvents].filter((record) => record !== undefined);
}

// --- internal ---

function keptOf(raw: RawRecord, rule: NativeRule, table: NativeTable): NativeRecord | undefined {
  if (raw.startNs === undefined) return undefined;
  const sessionId = table.session.map((name) => idIn(raw, name)).find((id) => id !== undefined);
  const span = raw.traceId && raw.spanId ? { traceId: raw.traceId, spanId: raw.spanId } : undefined;
  if (sessionId === undefined || (raw.kind === "span" && span === undefined)) return undefined;
  const ids = idRules(rule).flatMap(([kind, name]) => {
    const id = name === PARENT_SPAN ? raw.parentSpanId : idIn(raw, name);
    return id === undefined ? [] : [{ kind, id }];
  });
  const facts: NativeFacts = membersIn(raw, rule.facts ?? {});
  const isOfSession = facts.hook !== undefined || facts.connection !== undefined;
  // What is known of a call without an id must not become a fact of the session
  if (ids.length === 0 && !isOfSession) return undefined;
  const link = raw.kind === "span" || rule.isInSpan ? span : undefined;
  if (link === undefined && Object.keys(facts).length === 0) return undefined;
  const kept = { sessionId, ids, timeMs: Number(raw.startNs / 1_000_000n), facts, ...(link && { span: link }) };
  if (raw.kind === "span") return { key: `${span?.traceId}-${span?.spanId}`, ...kept };
  const sequence = (table.sequence ?? []).map((name) => raw.attribute(name) ?? null);
  return { key: digestOf([raw.name, String(raw.startNs), sequence, kept]), ...kept };
}

function ruleFor(name: string | undefined, rules: Readonly<Record<string, NativeRule>>): NativeRule | undefined {
  if (name === undefined) return undefined;
  if (Object.hasOwn(rules, name)) return rules[name];
  const prefix = `${name.slice(0, name.indexOf(" ") + 1)}*`;
  return Object.hasOwn(rules, prefix) ? rules[prefix] : undefined;
}

const idRules = ({ ids = {} }: NativeRule) => Object.entries(ids) as [NativeIdKind, string][];

/** Ids of all agents; none has a space. */
const ID = /^[\w.:/@#=+~-]{1,200}$/;

function idIn(raw: RawRecord, name: string): string | undefined {
  const value = raw.attribute(name);
  return typeof value === "string" && ID.test(value) ? value : undefined;
}

type Rules = Readonly<Record<string, object>>;

function membersIn(raw: RawRecord, rules: Rules): Readonly<Record<string, unknown>> {
  const members: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const value = memberOf(raw, rule, NEEDED[name]);
    if (value !== undefined) members[name] = value;
  }
  return members;
}

/** Without these a group says nothing. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  tokens: [],
  hook: ["event", "durationMs"],
  connection: ["state"],
};

function memberOf(raw: RawRecord, rule: object, needed: readonly string[] | undefined): unknown {
  if (needed !== undefined) {
    const group = membersIn(raw, rule as Rules);
    return Object.keys(group).length > 0 && needed.every((name) => name in group) ? group : undefined;
  }
  const value = rule as ValueRule<unknown>;
  if ("is" in value) return value.is;
  return "word" in value ? wordIn(raw, value) : numberIn(raw, value);
}

/** Short, and of the characters that names have: no sentence. */
const WORD = /^[\w.:/@-]{1,100}$/;

function wordIn(raw: RawRecord, { word, as, or }: WordRule<unknown>): unknown {
  const text = String(raw.attribute(word) ?? "");
  if (as === undefined && WORD.test(text)) return text;
  if (as !== undefined && Object.hasOwn(as, text)) return as[text];
  return or === undefined || "is" in or ? or?.is : wordIn(raw, or);
}

const FACTORS: Readonly<Record<NativeUnit, number>> = { ms: 1, s: 1e3, usd: 1e9 };

function numberIn(raw: RawRecord, { of, unit = "ms" }: NumberRule): number | undefined {
  const [first, ...others] = of.map((name) => {
    const isNegative = name.startsWith("-");
    const value = scalarIn(raw, isNegative ? name.slice(1) : name);
    return isNegative && value !== undefined ? -value : value;
  });
  if (first === undefined) return undefined;
  const sum = others.reduce<number>((total, value) => total + (value ?? 0), first) * FACTORS[unit];
  // Thousandths, so that a sum of decimal fractions is what a reader would write
  return sum >= 0 ? Math.round(sum * 1e3) / 1e3 : undefined;
}

function scalarIn(raw: RawRecord, name: string): number | undefined {
  if (name === DURATION)
    return raw.startNs === undefined || raw.endNs === undefined ? undefined : Number(raw.endNs - raw.startNs) / 1e6;
  const value = raw.attribute(name);
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  return typeof value === "string" && /^\d{1,18}(\.\d{1,18})?$/.test(value) ? Number(value) : undefined;
}

const digestOf = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
