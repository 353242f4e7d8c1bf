import type { FactBase, FactSink } from "#core/model/fact-sink.ts";
import type { TokenUsage } from "#core/model/transcript.ts";
import { asObject, asString } from "../shared/payload/json.ts";
import type { JsonLine } from "../shared/transcript/json-line.ts";
import type { AnswerWithoutId } from "./answers-without-id.ts";

export type Line = Readonly<Record<string, unknown>>;

/**
 * State between two lines of a file. Stored between two drains as plain JSON. Reading a line changes it; the objects and lists
 * in it are replaced, never changed.
 */
export interface LineState {
  /** Time of the last line that had one; also used for lines without a time. */
  timeMs: number;
  /** Key of the prompt whose turn the lines belong to. */
  promptKey: string | undefined;
  /** Time of the model's last input. */
  inputMs: number | undefined;
  /** Times at which requests were sent, by the id to which their answers refer. */
  requests: Readonly<Record<string, number>> | undefined;
  /** Digest of the last session facts; prevents repeats. */
  facts: string | undefined;
  /** The version that wrote the last line. */
  version: string | undefined;
  /** Line id of the last result of a call that launched a command or a skill. */
  launched: string | undefined;
  /** The last calls whose ids are numbered by the provider. A result belongs to the last one with its id. */
  counted: readonly CountedCall[] | undefined;
  /** The last answers without an id. */
  nameless: readonly AnswerWithoutId[] | undefined;
  /** The last answer with separate figures. */
  answer: LastAnswer | undefined;
  /** The last answers with a random id, and the request that their first line names, if any. */
  requestOf: readonly AnswerRequest[] | undefined;
}

/** Plain JSON. */
interface AnswerRequest {
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

/** State before the first line of a file, or the stored one. */
export const lineState = (timeMs: number, stored: Partial<LineState> = {}): LineState => ({
  timeMs,
  promptKey: undefined,
  inputMs: undefined,
  requests: undefined,
  facts: undefined,
  version: undefined,
  launched: undefined,
  counted: undefined,
  nameless: undefined,
  answer: undefined,
  requestOf: undefined,
  ...stored,
});

/** A line, and the state that its facts depend on. */
export interface LineContext {
  readonly o: Line;
  readonly line: JsonLine;
  readonly timeMs: number;
  readonly state: LineState;
  /** The subagent that wrote the line. */
  readonly agentId: string | undefined;
  /**
   * Id of the line from which this one was copied: the Agent SDK's `forkSession` gives copies new ids. That line may be a copy
   * itself.
   */
  readonly originalId: string | undefined;
  readonly sink: FactSink;
}

/** @param agentId the subagent whose file it is, if any */
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

/** The members that every fact of this line has. */
export const factBase = ({ timeMs, state, agentId }: LineContext, key: string, globalKey?: string): FactBase => ({
  key,
  timeMs,
  globalKey,
  promptKey: state.promptKey,
  agentId,
});

/** The same for a fact that is identified only by its line's id, which a fork's copy keeps. */
export function lineFactBase(context: LineContext, kind: string): FactBase {
  const key = `${kind}:${lineId(context)}`;
  return factBase(context, key, key);
}

/** Lines of old versions have no id; their time and length are the same at every read. */
export const lineId = ({ o, line, originalId, timeMs }: LineContext): string =>
  originalId ?? asString(o["uuid"]) ?? `${timeMs}:${line.bytes.length}`;

// --- internal ---

/** Before subagents had separate files, their lines were in the main one, without an id that distinguishes subagents. */
const sidechainOf = (o: Line): string | undefined =>
  o["isSidechain"] === true ? (asString(o["agentId"]) ?? "sidechain") : undefined;
