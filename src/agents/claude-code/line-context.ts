import type { FactBase, FactSink } from "../../model/fact-sink.ts";
import type { TokenUsage } from "../../model/transcript.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import type { JsonLine } from "../shared/transcript/json-line.ts";
import type { NamelessAnswer } from "./nameless.ts";

export type Line = Readonly<Record<string, unknown>>;

/**
 * What the lines so far mean for the next one. Stored between two drains as plain JSON. Reading a line changes it; the objects
 * and lists in it are replaced, never changed.
 */
export interface LineState {
  /** Time of the last line that had one; lines without a time get it. */
  timeMs: number;
  /** Key of the prompt whose turn the lines belong to. */
  promptKey: string | undefined;
  /** When the model last got input. */
  inputMs: number | undefined;
  /** When requests were sent, by the id that their answers refer to. */
  requests: Readonly<Record<string, number>> | undefined;
  /** Digest of the last session facts; prevents repeats. */
  facts: string | undefined;
  /** Line id of the last result of a call that launched a command or a skill. */
  launched: string | undefined;
  /** The last calls whose ids are counted by their provider. A result belongs to the last one with its id. */
  counted: readonly CountedCall[] | undefined;
  /** The last answers that a server gave no ids. */
  nameless: readonly NamelessAnswer[] | undefined;
  /** The last answer with separate figures. */
  answer: LastAnswer | undefined;
  /** The last answers with a random id, and the request that their first line names, if any. */
  requestOf: readonly AnswerRequest[] | undefined;
}

/** Plain JSON. */
export interface AnswerRequest {
  readonly id: string;
  readonly requestId?: string;
}

export interface CountedCall {
  readonly given: string;
  readonly callId: string;
  readonly agentId?: string | undefined;
}

/** An answer that has an id and a request. */
export interface LastAnswer {
  readonly id: string;
  readonly requestId: string;
  /** Absent if no tokens were counted. */
  readonly usage?: TokenUsage;
}

/** State before the first line of a file, or as it was stored. */
export const lineState = (timeMs: number, stored: Partial<LineState> = {}): LineState => ({
  timeMs,
  promptKey: undefined,
  inputMs: undefined,
  requests: undefined,
  facts: undefined,
  launched: undefined,
  counted: undefined,
  nameless: undefined,
  answer: undefined,
  requestOf: undefined,
  ...stored,
});

/** A line with everything its facts depend on. */
export interface LineContext {
  readonly o: Line;
  readonly line: JsonLine;
  readonly timeMs: number;
  readonly state: LineState;
  /** The subagent that wrote the line. */
  readonly agentId: string | undefined;
  /**
   * Id of the line that this one is a copy of: the Agent SDK's `forkSession` gives its copies new ids. The original line may
   * be a copy itself.
   */
  readonly originalId: string | undefined;
  readonly sink: FactSink;
}

/** @param agentId of the subagent whose file it is */
export function contextOf(
  o: Line,
  line: JsonLine,
  timeMs: number,
  state: LineState,
  agentId: string | undefined,
  sink: FactSink,
): LineContext {
  const original = o["forkedFrom"] === undefined ? undefined : asString(asObject(o["forkedFrom"])?.["messageUuid"]);
  return {
    o,
    line,
    timeMs,
    state,
    agentId: agentId ?? sidechainOf(o),
    originalId: original === o["uuid"] ? undefined : original,
    sink,
  };
}

/** Where a fact of this line stands. */
export const factBase = ({ timeMs, state, agentId }: LineContext, key: string, globalKey?: string): FactBase => ({
  key,
  timeMs,
  globalKey,
  promptKey: state.promptKey,
  agentId,
});

/** The place of a fact that is identified only by its line's id. A fork copies the line with that id. */
export function lineFactBase(context: LineContext, kind: string): FactBase {
  const key = `${kind}:${lineId(context)}`;
  return factBase(context, key, key);
}

/** Old lines have no id: their time and length are the same each time they are read. */
export const lineId = ({ o, line, originalId, timeMs }: LineContext): string =>
  originalId ?? asString(o["uuid"]) ?? `${timeMs}:${line.bytes.length}`;

// --- internal ---

/** Before subagents had separate files, their lines were in the main one, without an id that distinguishes subagents. */
const sidechainOf = (o: Line): string | undefined =>
  o["isSidechain"] === true ? (asString(o["agentId"]) ?? "sidechain") : undefined;
