import type { LaunchingCall } from "#core/model/launch.ts";
import type { Subagent, ToolCall, Turn } from "#core/model/session.ts";
import { knownCardOf } from "#core/rules/cards.ts";
import { launchingCall } from "#core/rules/launch.ts";
import { type Launcher, launchedBy, launcherOf } from "../launches.ts";
import { settledSubagents, settledToolCalls, settledTurns } from "../queries.ts";
import type { StoredSession } from "../sessions.ts";
import type { SessionSource } from "./read-session.ts";
import { unsettledSession } from "./unsettled-session.ts";

/** A session that a command of another one started. */
export interface Launch extends Pick<Launcher, "knownBy"> {
  readonly launcher: StoredSession;
  readonly launched: StoredSession;
  /** Absent: it is not certain which call it was, or no call was running. */
  readonly call?: LaunchCall;
}

export interface LaunchCall extends LaunchingCall, Pick<PlacedCall, "segment" | "run"> {
  /** Of the tool. */
  readonly name: string;
}

/** How a session was started by another one; `undefined` if it was not, or this is not certain. */
export function launchOf(source: SessionSource, launched: StoredSession): Launch | undefined {
  const found = launcherOf(source.db, launched);
  return found && withCall(source, launched, found, callsOf(source, found.session));
}

/** The sessions that a session started, by time. */
export function launchesFrom(source: SessionSource, launcher: StoredSession): readonly Launch[] {
  const launched = launchedBy(source.db, launcher);
  if (launched.length === 0) return [];
  const known = callsOf(source, launcher);
  return launched.flatMap((one) => {
    const found = launcherOf(source.db, one);
    return (found && withCall(source, one, found, known)) ?? [];
  });
}

/** The session that started one, and those that it started, without the calls. */
export function relativesOf(
  source: SessionSource,
  session: StoredSession,
): { readonly parent?: StoredSession; readonly children: readonly StoredSession[] } {
  const found = launcherOf(source.db, session);
  const parent = found && needsCall(source, found) ? launchOf(source, session)?.launcher : found?.session;
  const children = launchedBy(source.db, session);
  const isKnown = children.length === 0 || !hasTerminals(source, session);
  return {
    ...(parent !== undefined && { parent }),
    children: isKnown ? children : launchesFrom(source, session).map(({ launched }) => launched),
  };
}

// --- internal ---

interface PlacedCall {
  readonly tool: ToolCall;
  readonly segment: number;
  /** Of a call that is not settled. */
  readonly run?: Turn | Subagent;
}

interface KnownCalls extends Omit<Parameters<typeof launchingCall>[0], "calls"> {
  readonly placed: readonly PlacedCall[];
}

/** @returns `undefined` if the user may have started it */
function withCall(
  source: SessionSource,
  launched: StoredSession,
  found: Launcher,
  { placed, ...known }: KnownCalls,
): Launch | undefined {
  const { session: launcher, named, knownBy, sinceMs = Number.NEGATIVE_INFINITY } = found;
  const calls = placed.map(({ tool }) => tool);
  const startMs = launched.launchedMs ?? launched.firstMs;
  const call = launchingCall({ calls, ...known }, startMs, named, knownBy === "processes" ? sinceMs : undefined);
  const place = placed.find(({ tool }) => tool.callId === call?.callId);
  if (call === undefined || place === undefined)
    return needsCall(source, found) ? undefined : { launcher, launched, knownBy };
  const { tool, ...where } = place;
  return { launcher, launched, knownBy, call: { ...call, ...where, name: tool.name } };
}

const hasTerminals = (source: SessionSource, { source: agent }: StoredSession): boolean =>
  knownCardOf(source, agent)?.hasTerminals === true;

const needsCall = (source: SessionSource, { session, knownBy }: Launcher): boolean =>
  knownBy === "processes" && hasTerminals(source, session);

/** All tool calls of a session, without those that wait for a subagent, whose own calls are among them. */
function callsOf(source: SessionSource, session: StoredSession): KnownCalls {
  const { db } = source;
  const open = unsettledSession(source, session);
  const runs = [...open.turns, ...open.subagents];
  const waiting = new Set([...settledSubagents(db, session.id), ...open.subagents].map((one) => one.parentCallId));
  const placed: readonly PlacedCall[] = [
    ...settledToolCalls(db, session.id),
    ...runs.flatMap((run) => run.toolCalls.map((tool) => ({ tool, segment: run.segment, run }))),
  ];
  return {
    placed: placed.filter(({ tool }) => !waiting.has(tool.callId)),
    turnStarts: [...settledTurns(db, session.id), ...open.turns].map(({ startMs }) => startMs),
    shells: knownCardOf(source, session.source)?.inCommands?.shells,
  };
}
