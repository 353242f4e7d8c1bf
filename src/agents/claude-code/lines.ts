import type { FactSink } from "#core/model/fact-sink.ts";
import { asString, asTimeMs, ownOf, parsedObject } from "../shared/payload/json.ts";
import type { JsonLine } from "../shared/transcript/json-line.ts";
import { UNREADABLE } from "../shared/transcript/read-lines.ts";
import { assistantLine } from "./assistant-lines.ts";
import { hasAllFacts } from "./cut-lines.ts";
import { contextOf, type Line, type LineContext, type LineState } from "./line-context.ts";
import { attachmentLine, costLine, requestLine, systemLine } from "./system-lines.ts";
import { userLine } from "./user-lines.ts";

/**
 * Reads one transcript line: passes its facts to the sink and updates the state.
 *
 * @param agentId the subagent whose file it is, if any
 * @returns the line's kind; `UNREADABLE` when it is no JSON object
 */
export function readLine(line: JsonLine, state: LineState, agentId: string | undefined, sink: FactSink): unknown {
  let o = parsedLine(line.text());
  // Most bytes of a transcript are tool outputs and files: long strings that no fact needs
  if (line.isCut && o !== undefined && !hasAllFacts(o, sink)) o = parsedLine(line.bytes);
  if (o === undefined) return UNREADABLE;
  const { type } = o;
  const timeMs = asTimeMs(o["timestamp"]) ?? state.timeMs;
  const readKind = ownOf(READERS, asString(type));
  if (readKind !== undefined) {
    if (type !== "attachment") state.timeMs = timeMs;
    readKind(contextOf(o, line, timeMs, state, agentId, sink));
  }
  return type;
}

/** A line's JSON object. After a crash of the machine, zero bytes can precede it. */
export function parsedLine(text: string | Buffer): Line | undefined {
  const isPadded = text[0] === "\0" || text[0] === 0;
  return parsedObject(isPadded ? text.toString().replace(/^\0+/, "") : text);
}

// --- internal ---

/** By kind of line; other kinds have no facts. */
const READERS: Readonly<Record<string, (context: LineContext) => void>> = {
  user: userLine,
  assistant: assistantLine,
  system: systemLine,
  "api-request": requestLine,
  attachment: attachmentLine,
  "cost-state": costLine,
};
