// Events as written by 1.16.0 (openhands/sdk/event), recorded and read in the program, 2026-11-26

import type { FactSink } from "#core/model/fact-sink.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import type { EntryOf } from "#core/model/transcript.ts";
import { isRandomId, repeatedCallId } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { plainText } from "../shared/payload/content.ts";
import { asArray, asCode, asObject, asString, type Fields } from "../shared/payload/json.ts";
import type { EventFile } from "./event-files.ts";
import { writesObserved, writesOfEditor } from "./file-writes.ts";
import { actionDigest, isCorrection } from "./inputs.ts";
import { httpStatusIn, outcomeIn } from "./outcome.ts";
import type { Model } from "./state-file.ts";
import { factBase, MAX_KEPT, type OpenCall, type Task, type WalkState } from "./walk-state.ts";

/** Known kinds of events, with or without facts. */
export const KINDS: readonly string[] =
  `ACPToolCallEvent ActionEvent AgentErrorEvent Condensation CondensationRequest CondensationSummaryEvent
  ConversationErrorEvent ConversationStateUpdateEvent HookExecutionEvent LLMCompletionLogEvent MessageEvent
  ObservationEvent PauseEvent StreamingDeltaEvent SystemPromptEvent TokenEvent UserRejectObservation`.split(/\s+/);

/** The conversation that is read. */
interface Conversation {
  /** Set for a subagent's. */
  readonly agentId: string | undefined;
  /** For answers whose usage is never written. */
  readonly model: Model | undefined;
  readonly sink: FactSink;
}

/** Passes the facts of one event to the sink and updates the state. */
export function walk(file: EventFile, event: Fields, state: WalkState, conversation: Conversation): void {
  const timeMs = file.timeMs ?? state.timeMs;
  const id = asString(event["id"]) ?? file.name;
  const context: Context = { event, id, fileName: file.name, timeMs, state, ...conversation };
  readKind(event["kind"], context);
  state.timeMs = timeMs;
  state.isStart = isSessionStart(event);
}

/** The text of a message. */
export const messageText = (event: Fields): string | undefined => {
  const texts = asArray(asObject(event["llm_message"])?.["content"]).flatMap(
    (block) => asString(asObject(block)?.["text"]) ?? [],
  );
  return texts.length === 0 ? undefined : texts.join("");
};

/** Digest of a subagent's prompt. */
export const taskDigest = (text: string | undefined): string => actionDigest(text) ?? "";

// --- internal ---

interface Context extends Conversation {
  readonly event: Fields;
  readonly id: string;
  readonly fileName: string;
  readonly timeMs: number;
  readonly state: WalkState;
}

const isSessionStart = (event: Fields): boolean =>
  event["kind"] === "HookExecutionEvent" && event["hook_event_type"] === "SessionStart";

function readKind(kind: unknown, context: Context): void {
  const { event, id, timeMs, state, agentId, sink } = context;
  const base = (key: string) => factBase(state, agentId, `${key}:${id}`, timeMs);
  switch (kind) {
    case "MessageEvent":
      if (event["source"] === "user") prompt(context);
      else if (event["source"] === "agent") answer(context, false);
      break;
    case "ActionEvent":
      answer(context, true);
      toolUse(context);
      break;
    case "ObservationEvent":
      toolResult(context, {
        ...outcomeIn(event["observation"]),
        files: writesObserved(event["tool_name"], event["observation"]),
      });
      break;
    case "AgentErrorEvent":
      toolResult(context, wasCutOff(event) ? { status: "unfinished" } : { status: "error" });
      break;
    case "UserRejectObservation":
      toolResult(context, { status: "denied" });
      break;
    case "ConversationErrorEvent":
      sink.other(
        defined<EntryOf<"model_error">>({
          kind: "model_error",
          ...base("error"),
          errorType: asCode(event["code"]) ?? "_OTHER",
          httpStatus: httpStatusIn(event["detail"]),
          final: true,
        }),
      );
      break;
    case "PauseEvent":
      sink.other(defined<EntryOf<"interruption">>({ kind: "interruption", ...base("interruption") }));
      break;
    case "Condensation":
      answer(context, false);
      sink.other(defined<EntryOf<"compaction">>({ kind: "compaction", ...base("compaction") }));
      break;
    case "HookExecutionEvent":
      // Only hooks show where a process starts
      if (agentId === undefined && isSessionStart(event) && !state.isStart && state.next > 1)
        sink.other(defined<EntryOf<"resumption">>({ kind: "resumption", ...base("resumption") }));
      break;
    default:
  }
}

/** The first message of a subagent is its task. What OpenHands writes in the user's name is no prompt of the user. */
function prompt({ event, id, timeMs, state, agentId, sink }: Context): void {
  [state.runMs, state.resultMs] = [timeMs, timeMs];
  if (agentId !== undefined) return;
  const text = messageText(event);
  state.promptKey = `prompt:${id}`;
  sink.prompt(factBase(state, agentId, state.promptKey, timeMs), {
    origin: isCorrection(text) ? "machine" : "human",
    length: text?.length,
  });
}

/** Each event of an answer names it. Its usage is in the state file, when the run has ended. */
function answer({ event, timeMs, state, agentId, model, sink }: Context, asksForTools: boolean): void {
  const responseId = asString(event["llm_response_id"]);
  if (responseId === undefined) return;
  const known = state.answers[responseId];
  const { promptKey } = known ?? state;
  sink.modelCall(factBase(state, agentId, responseKey(responseId), known?.ms ?? timeMs, promptKey), {
    responseId,
    model: model?.model,
    provider: model?.provider,
    endMs: known?.ms ?? timeMs,
    complete: false,
    asksForTools: asksForTools || undefined,
  });
  if (known !== undefined) return;
  const kept = Object.entries(state.answers).slice(-MAX_KEPT + 1);
  state.answers = Object.fromEntries([
    ...kept,
    [responseId, { ms: timeMs, ...(promptKey !== undefined && { promptKey }) }],
  ]);
}

/** The key of an answer of a model: its id is unique in the world. */
export const responseKey = (responseId: string): string => `response:${responseId}`;

function toolUse({ event, id, fileName, timeMs, state, agentId, sink }: Context): void {
  const [givenId, name] = [asString(event["tool_call_id"]), asString(event["tool_name"])];
  if (givenId === undefined || name === undefined) return;
  const action = asObject(event["action"]);
  const task = taskIn(action, fileName);
  const call = defined<OpenCall>({
    id,
    givenId,
    callId: isRandomId(givenId) ? givenId : repeatedCallId(givenId, id),
    name,
    digest: actionDigest(action),
    executable: executableOf(action?.["command"]),
    promptKey: state.promptKey,
    ms: timeMs,
    task,
  });
  putUse(call, factBase(state, agentId, `use:${id}`, timeMs), sink, {
    files: writesOfEditor(name, action),
    skill: skillOf(name, action),
  });
  if (task !== undefined) addTaskRun(state, { ...task, callId: call.callId, ms: timeMs, runMs: state.runMs });
  state.open = [...state.open.slice(-MAX_KEPT + 1), call];
}

const putUse = (
  call: OpenCall,
  base: ReturnType<typeof factBase>,
  sink: FactSink,
  named: { readonly files?: readonly FileWrite[] | undefined; readonly skill?: string | undefined } = {},
): void =>
  sink.toolUse(base, {
    ...named,
    callId: call.callId,
    name: call.name,
    executable: call.executable,
    inputDigest: call.digest,
  });

const addTaskRun = (state: WalkState, run: WalkState["tasks"][number]): void => {
  state.tasks = [...state.tasks.slice(-MAX_KEPT + 1), run];
};

function taskIn(action: Fields | undefined, fileName: string): Task | undefined {
  if (action?.["kind"] !== "TaskAction" || asString(action["resume"]) !== undefined) return undefined;
  return { digest: taskDigest(asString(action["prompt"])), fileName };
}

type Result =
  | (ReturnType<typeof outcomeIn> & { readonly files?: readonly FileWrite[] | undefined })
  | { readonly status: "denied" | "unfinished"; readonly exitCode?: never };

/**
 * After a kill the next process runs the calls that have no result again, under the same ids, as soon as it gets a prompt. The first
 * run was cut off, and the second counts as another call.
 */
function toolResult({ event, id, timeMs, state, agentId, sink }: Context, result: Result): void {
  const [actionId, givenId] = [asString(event["action_id"]), asString(event["tool_call_id"])];
  // An error names the call only by the provider's id
  const call =
    actionId !== undefined
      ? state.open.find((one) => one.id === actionId)
      : state.open.findLast((one) => one.givenId === givenId);
  if (call === undefined) return;
  state.open = state.open.filter((one) => one !== call);
  const { promptKey } = call;
  const isCutOff = call.ms < state.runMs && result.status !== "denied";
  if (!isCutOff || result.status === "unfinished") {
    const base = factBase(state, agentId, `result:${id}`, timeMs, promptKey);
    sink.toolResult(base, { callId: call.callId, ...result });
  } else {
    const startMs = Math.max(state.runMs, state.resultMs);
    const again: OpenCall = { ...call, callId: repeatedCallId(call.callId, id) };
    const left = factBase(state, agentId, `left:${id}`, state.runMs, promptKey);
    sink.toolResult(left, { callId: call.callId, status: "unfinished" });
    putUse(again, factBase(state, agentId, `again:${id}`, startMs), sink);
    sink.toolResult(factBase(state, agentId, `result:${id}`, timeMs), { callId: again.callId, ...result });
    if (call.task !== undefined)
      addTaskRun(state, { ...call.task, callId: again.callId, ms: startMs, runMs: state.runMs });
  }
  state.resultMs = Math.max(state.resultMs, timeMs);
  if (call.name === FINISH && agentId === undefined && result.status === "success")
    sink.other(
      defined<EntryOf<"turn_end">>({ kind: "turn_end", ...factBase(state, agentId, `turn_end:${id}`, timeMs) }),
    );
}

/** The tool that ends a turn. */
const FINISH = "finish";

/** OpenHands' server writes such a result for each call that a restart cut off. */
const wasCutOff = (event: Fields): boolean =>
  asString(event["error"])?.startsWith("A restart occurred while this tool was in progress") === true;

/** The texts of a result. */
export const observationText = (event: Fields): string | undefined =>
  plainText(asObject(event["observation"])?.["content"]) ??
  asString(event["error"]) ??
  asString(event["rejection_reason"]);
