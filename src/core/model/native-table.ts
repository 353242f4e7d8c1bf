import type { NativeConnection, NativeFacts, NativeHook, NativeIdKind, NativeTokens } from "./native.ts";

/**
 * What of an agent's own telemetry is kept: the names of its records, and of each the attributes. Everything else is dropped: of a
 * record that is not named here, nothing but its name is looked at.
 */
export interface NativeTable {
  /** Attributes that hold the agent's id of the session; the first that a record has. Records without one are dropped. */
  readonly session: readonly string[];
  /** By the name of the span. `chat *` is every name that begins with `chat `, and `*` every one without a blank. */
  readonly spans: Readonly<Record<string, NativeRule>>;
  /** By the name of the log record's event. */
  readonly logs: Readonly<Record<string, NativeRule>>;
  /** Attributes that tell log records, and events of spans, of the same time apart. @default none */
  readonly sequence?: readonly string[];
}

export interface NativeRule {
  /**
   * Attributes that hold ids, in the order in which they are tried. A record with none of them belongs to the session if it is about
   * hooks or connections, and is dropped otherwise.
   */
  readonly ids?: { readonly [Kind in NativeIdKind]?: string };
  /** Absent: the record is kept for its link, and a span as the parent of others. */
  readonly facts?: NativeFactRules;
  /** Only records in which an attribute has one of these values. @default all */
  readonly only?: { readonly of: string; readonly is: readonly string[] };
  /** A log record: the span in which it was written is that of its call or turn. */
  readonly isInSpan?: true;
  /** A span: its events by name. They have the attributes of the span too. */
  readonly events?: Readonly<Record<string, NativeRule>>;
}

/** How each fact is read. */
export type NativeFactRules = ValueRules<Omit<NativeFacts, "tokens" | "hook" | "connection">> & {
  readonly tokens?: ValueRules<NativeTokens>;
  readonly hook?: ValueRules<NativeHook>;
  readonly connection?: ValueRules<NativeConnection>;
};

/** Names that stand for what is no attribute. */
export const PARENT_SPAN = "(parent)";
export const DURATION = "(duration)";

export type NativeUnit = "ms" | "s" | "usd";

/** A number: the first attribute, and those of the others that are there, added; those with a `-` in front are subtracted. */
export interface NumberRule {
  readonly of: readonly [string, ...string[]];
  /** @default that of the fact */
  readonly unit?: NativeUnit;
}

/** A short word. */
export interface WordRule<T = string> {
  readonly word: string;
  /** The agent's words. Others are left out. @default every word as it is */
  readonly as?: Readonly<Record<string, T>>;
  /** If it is absent or left out. @default no fact */
  readonly or?: WordRule<T> | ConstantRule<T>;
}

/** The record's name says it. */
export interface ConstantRule<T> {
  readonly is: T;
}

export type ValueRule<T = unknown> =
  | ConstantRule<T>
  | WordRule<T>
  | ([number] extends [T] ? NumberRule : [T] extends [number] ? NumberRule : never);

// --- internal ---

type ValueRules<T> = { readonly [K in keyof T]: ValueRule<NonNullable<T[K]>> };
