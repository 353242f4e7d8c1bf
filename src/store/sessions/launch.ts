import type { LaunchingCall } from "#core/model/launch.ts";
import type { Subagent, ToolCall, Turn } from "#core/model/session.ts";
import { knownCardOf } from "#core/rules/cards.ts";
import { launchingCall } from "#core/rules/launch.ts";
import { launchedBy, launcherOf } from "../launches.ts";
import { settledSubagents, settledToolCalls, settledTurns } from "../queries.ts";
import type { StoredSession } from "../sessions.ts";
import type { SessionSource } from "./read-session.ts";
import { unsettledSession } from "./unsettled-session.ts";

/** A session that a command of another one started. */
export interface Launch {
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
  return found && withCall(launched, found.session, found.named, callsOf(source, found.session));
}

/** The sessions that a session started, by time. */
export function launchesFrom(source: SessionSource, launcher: StoredSession): readonly Launch[] {
  const launched = launchedBy(source.db, launcher);
  if (launched.length === 0) return [];
  const known = callsOf(source, launcher);
  return launched.map((one) => withCall(one, launcher, launcherOf(source.db, one)?.named, known));
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

function withCall(
  launched: StoredSession,
  launcher: StoredSession,
  named: string | undefined,
  { placed, ...known }: KnownCalls,
): Launch {
  const calls = placed.map(({ tool }) => tool);
  const found = launchingCall({ calls, ...known }, launched.launchedMs ?? launched.firstMs, named);
  const place = placed.find(({ tool }) => tool.callId === found?.callId);
  if (found === undefined || place === undefined) return { launcher, launched };
  const { tool, ...where } = place;
  return { launcher, launched, call: { ...found, ...where, name: tool.name } };
}

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
