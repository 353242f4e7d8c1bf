import type { FactBase, FactSink } from "#core/model/fact-sink.ts";
import { isRandomId, repeatedCallId } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import type { Fields } from "../shared/payload/json.ts";

/** State between two lines of a file. Plain JSON, stored between two drains. */
export interface LineState {
  /** Time of the last line. */
  timeMs: number;
  /** The session's facts were reported. */
  isTold?: true | undefined;
  /** The current turn. */
  turn?: Turn | undefined;
  /** The prompt id that a hook's line named, before the line of its prompt. */
  nextPromptId?: string | undefined;
  /** A prompt whose id is not known yet. */
  prompt?: WaitingPrompt | undefined;
  /** Index of the last prompt; a prompt can have several lines. */
  promptIndex?: number | undefined;
  /** Calls without an end. */
  openCalls?: readonly OpenCall[] | undefined;
  /** Call ids that a server counts, so that they can repeat. */
  usedIds?: readonly string[] | undefined;
  /** Subagents that this session started. */
  children?: readonly string[] | undefined;
  /** The session whose lines are at the start of this file, and whether they are skipped because its own file has them. */
  copied?: { readonly from: string; readonly isSkipped: boolean } | undefined;
}

interface Turn {
  readonly id: string;
  readonly startMs: number;
  readonly model?: string | undefined;
  /** Key of the prompt's content, if a line after the prompt's named the turn's id. */
  readonly claims?: string | undefined;
  /** A record of its usage was reported. */
  readonly hasRecord?: true | undefined;
}

interface WaitingPrompt {
  readonly timeMs: number;
  readonly length?: number | undefined;
  readonly isMachine: boolean;
  readonly model?: string | undefined;
  readonly key: string;
}

interface OpenCall {
  readonly given: string;
  readonly callId: string;
  readonly turnId?: string | undefined;
  readonly timeMs: number;
  /** Set for a call that starts a subagent. */
  readonly description?: string | undefined;
}

/** The file that a line is in. */
export interface FileContext {
  readonly sessionId: string;
  /** Folder of the session. */
  readonly folder: string;
  /** The subagent whose file it is. */
  readonly agentId: string | undefined;
  /** Folders with sessions of all projects. */
  readonly searched: readonly string[];
  readonly roots: readonly string[] | undefined;
}

/** A line, and the state that its facts depend on. */
export interface LineContext {
  readonly update: Fields;
  /** Metadata of the JSON-RPC message: the line's id and time, and the prompt's id. */
  readonly meta: Fields;
  readonly timeMs: number;
  /** The session that wrote the line: another one if a fork copied it. */
  readonly owner: string;
  /** Identifies the line over all sessions. */
  readonly lineId: string;
  readonly file: FileContext;
  readonly state: LineState;
  readonly sink: FactSink;
}

/** The members that every fact has. @param id identifies the fact over all sessions */
export const factBase = ({ timeMs, file, state, owner, lineId }: LineContext, key: string, id?: string): FactBase =>
  defined<FactBase>({
    key,
    timeMs,
    globalKey: id === undefined ? `line:${lineId}` : `${owner}:${id}`,
    // A subagent's prompt is its task; it belongs to the call that started it
    promptKey: file.agentId === undefined ? state.turn?.id : undefined,
    agentId: file.agentId,
  });

/** The id of a new call, unique in its file: some servers count calls. */
export function startCall({ state, file, lineId, timeMs }: LineContext, given: string, description?: string): string {
  const isUsed = state.usedIds?.includes(given) === true;
  const own = isRandomId(given) || file.agentId === undefined ? given : repeatedCallId(given, file.agentId);
  const callId = isUsed ? repeatedCallId(own, lineId) : own;
  if (!isUsed && !isRandomId(given)) state.usedIds = [...(state.usedIds ?? []), given].slice(-MAX_IDS);
  const call: OpenCall = { given, callId, turnId: state.turn?.id, timeMs, description };
  state.openCalls = [...(state.openCalls ?? []), call].slice(-MAX_IDS);
  return callId;
}

/** Ends the last open call with that id. @returns `undefined` if none is open */
export function endCall(state: LineState, given: string): string | undefined {
  const ended = state.openCalls?.findLast((call) => call.given === given);
  if (ended !== undefined) state.openCalls = state.openCalls?.filter((call) => call !== ended);
  return ended?.callId;
}

// --- internal ---

const MAX_IDS = 500;
