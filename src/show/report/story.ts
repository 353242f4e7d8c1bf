import type { ContentLine, WantedContent } from "#core/model/content.ts";
import { spanIdOf } from "#core/telemetry/ids.ts";
import type { SessionView } from "./session-view.ts";

/** What was asked in a turn, what a call did, what a subagent was given to do; by span id. */
export type SpanLines = ReadonlyMap<string, ContentLine>;

export const NO_LINES: SpanLines = new Map();

/**
 * Assigns lines of the agent's own files to the spans of a session. Prompts and calls that hooks reported without an id have other
 * keys in the files; these are found by their times.
 */
export function linesOfSpans(
  { facts, turnList, toolCalls, subagentList }: Pick<SessionView, "facts" | "turnList" | "toolCalls" | "subagentList">,
  lines: readonly ContentLine[],
): SpanLines {
  const prompts = lines.filter(({ subject, agentId }) => subject === "turn" && agentId === undefined);
  const calls = lines.filter(({ subject }) => subject === "tool_call");
  const turns = matched(turnList.filter(isPrompted), prompts, () => true);
  const tools = matched(
    toolCalls.map(({ tool }) => ({ ...tool, key: tool.callId })),
    calls,
    (tool, line) => tool.name === line.tool && tool.agentId === line.agentId,
  );
  const byCall = new Map([...tools].map(([tool, line]) => [tool.callId, line]));
  return new Map([
    ...[...turns].map(([{ key }, line]) => [spanIdOf(facts, "turn", key), line] as const),
    ...[...tools].map(([{ callId }, line]) => [spanIdOf(facts, "tool_call", callId), line] as const),
    ...subagentList.flatMap(({ agentId, parentCallId }) => {
      const line = byCall.get(parentCallId ?? "");
      return line === undefined ? [] : [[spanIdOf(facts, "subagent", agentId), line] as const];
    }),
  ]);
}

/** What was asked in each turn, by the turn's number, from 1. */
export function promptsOfTurns(
  view: Parameters<typeof linesOfSpans>[0],
  lines: readonly ContentLine[],
): ReadonlyMap<number, string> {
  if (lines.length === 0) return new Map();
  const bySpan = linesOfSpans(view, lines);
  return new Map(
    view.turnList.filter(isPrompted).flatMap(({ key }, index) => {
      const line = bySpan.get(spanIdOf(view.facts, "turn", key));
      return line === undefined ? [] : [[index + 1, line.text] as const];
    }),
  );
}

/**
 * Where the content of a span is in the agent's files.
 *
 * @param lines of the same session
 * @returns `undefined` for spans without content, and for prompts and calls that are not in the files
 */
export function partOfSpan(
  { facts, turnList, toolCalls, calls }: Pick<SessionView, "facts" | "turnList" | "toolCalls" | "calls">,
  lines: SpanLines,
  spanId: string,
): WantedContent | undefined {
  const line = lines.get(spanId);
  if (line?.subject === "tool_call") return { subject: "tool_call", key: line.key };
  const tool = toolCalls.find(({ tool: { callId } }) => spanIdOf(facts, "tool_call", callId) === spanId);
  // Arguments without text have no line
  if (tool !== undefined) return { subject: "tool_call", key: tool.tool.callId };
  const turn = turnList.find(({ key }) => spanIdOf(facts, "turn", key) === spanId);
  if (turn !== undefined)
    return { subject: "turn", key: line?.key ?? turn.key, startMs: turn.startMs, endMs: turn.endMs };
  const call = calls.find(({ call: { key } }) => spanIdOf(facts, "model_call", key) === spanId);
  return call === undefined ? undefined : { subject: "model_call", key: call.call.key };
}

// --- internal ---

const isPrompted = ({ origin }: SessionView["turnList"][number]): boolean => origin === "human" || origin === "machine";

interface Timed {
  readonly key: string;
  readonly startMs: number;
}

/** Those with the key of a line; then each of the others with the line nearest in time that is left. */
function matched<T extends Timed>(
  all: readonly T[],
  lines: readonly ContentLine[],
  fits: (one: T, line: ContentLine) => boolean,
): ReadonlyMap<T, ContentLine> {
  const byKey = new Map(lines.map((line) => [line.key, line]));
  const found = new Map<T, ContentLine>();
  for (const one of all) {
    const line = byKey.get(one.key);
    if (line !== undefined) found.set(one, line);
  }
  const taken = new Set(found.values());
  const left = lines.filter((line) => !taken.has(line));
  for (const one of all) {
    if (found.has(one) || left.length === 0) continue;
    const candidates = left.filter((line) => distanceMs(one, line) <= MAX_APART_MS && fits(one, line));
    const [nearest] = candidates.sort((a, b) => distanceMs(one, a) - distanceMs(one, b));
    if (nearest === undefined) continue;
    found.set(one, nearest);
    left.splice(left.indexOf(nearest), 1);
  }
  return found;
}

const distanceMs = ({ startMs }: Timed, { timeMs }: ContentLine): number => Math.abs(startMs - timeMs);

/** A hook runs this long before or after its record is written, at most. */
const MAX_APART_MS = 5_000;
