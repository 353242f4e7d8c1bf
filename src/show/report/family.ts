import type { CallSums } from "#core/model/model-call.ts";
import { addSums } from "#core/rules/call-sums.ts";
import { spanIdOf } from "#core/telemetry/ids.ts";
import { type Launch, launchesFrom, launchOf } from "#store/sessions/launch.ts";
import type { SessionSource } from "#store/sessions/read-session.ts";
import type { StoredSession } from "#store/sessions.ts";
import { hasUsage } from "./call-totals.ts";
import { type SessionSummary, summarise } from "./session-summary.ts";

/** The session whose command started a session, and those that its own commands started. Each session is in one family at most. */
export interface Family {
  /** Absent: no other session did, or it is not certain which. */
  readonly parent?: Launch;
  /** By time. */
  readonly children: readonly ChildSession[];
  /** Present if there are children. */
  readonly withChildren?: FamilySums;
}

/** A session that a command started, with those that its own commands started. */
export interface ChildSession extends Pick<Launch, "call" | "knownBy"> {
  readonly summary: SessionSummary;
  readonly children: readonly ChildSession[];
}

/** Sums of a session and of all sessions below it. */
export interface FamilySums {
  readonly sums: CallSums;
  /** Number of sessions below it. */
  readonly sessions: number;
  /** Number of all these sessions, itself included, whose usage is unknown: then the sums are lower bounds. */
  readonly withoutUsage: number;
}

export function familyOf(source: SessionSource, own: SessionSummary): Family {
  const parent = launchOf(source, own.stored);
  const children = childrenOf(source, own.stored);
  return {
    ...(parent !== undefined && { parent }),
    children,
    ...(children.length > 0 && { withChildren: sumsOf(own, children) }),
  };
}

/** Every session below, each after the one that started it, with its depth from 0. */
export function* descendants(
  children: readonly ChildSession[],
  depth = 0,
): Generator<{ readonly child: ChildSession; readonly depth: number }> {
  for (const child of children) {
    yield { child, depth };
    yield* descendants(child.children, depth + 1);
  }
}

/** The sessions that each tool call started, by the id of the call's span. */
export function childrenBySpan(
  { children }: Family,
  { facts }: Pick<SessionSummary, "facts">,
): ReadonlyMap<string, readonly ChildSession[]> {
  const found = new Map<string, readonly ChildSession[]>();
  for (const child of children) {
    if (child.call === undefined) continue;
    const spanId = spanIdOf(facts, "tool_call", child.call.callId);
    found.set(spanId, [...(found.get(spanId) ?? []), child]);
  }
  return found;
}

// --- internal ---

function childrenOf(source: SessionSource, stored: StoredSession): readonly ChildSession[] {
  return launchesFrom(source, stored).map(({ launched, call, knownBy }) => ({
    knownBy,
    summary: summarise(source.db, launched, { agents: source.agents }),
    children: childrenOf(source, launched),
    ...(call !== undefined && { call }),
  }));
}

function sumsOf(own: SessionSummary, children: readonly ChildSession[]): FamilySums {
  const all = [own, ...[...descendants(children)].map(({ child }) => child.summary)];
  return {
    sums: all.map(({ sums }) => sums).reduce(addSums),
    sessions: all.length - 1,
    withoutUsage: all.filter(({ sums, facts }) => !hasUsage(sums) && facts.usageUnknown === true).length,
  };
}
