import { asCode, asCount, asObject, asString } from "../shared/payload/json.ts";
import { enterTurn, factBase, isSubagent, type Line, type LineContext, noteInput } from "./line-context.ts";
import { outputText } from "./outcome.ts";

/** A user message; the first one is the turn's prompt. A subagent's task comes from another agent and is no prompt. */
export function prompt(context: LineContext, content: unknown): void {
  const { p, timeMs, state, sink } = context;
  if (isSubagent(state)) {
    state.inputMs = timeMs;
    return;
  }
  enterTurn(state, p);
  // In versions without turn ids, each message starts a turn
  const hasNoTurnId = state.turnId === undefined || state.turnId.startsWith(TURN_ID_PREFIX);
  const turnId = hasNoTurnId ? `${TURN_ID_PREFIX}${timeMs}` : state.turnId;
  const isFirst = state.prompted !== turnId;
  state.turnId = turnId;
  state.prompted = turnId;
  noteInput(state, timeMs);
  if (!isFirst) return;
  const text = outputText(content);
  sink.prompt(factBase(context, `prompt:${turnId}:${timeMs}`), {
    origin: "human",
    length: text === "" ? undefined : text.length,
  });
}

/** The turn's last line, with the error if it failed. */
export function turnEnd(context: LineContext): void {
  const { p, state, sink } = context;
  // Before 0.150 a failed turn has no error; only its last message is missing
  const endedWithoutAnswer = p["last_agent_message"] === null && state.isWaiting === true;
  const failure = asObject(p["error"]) ?? (endedWithoutAnswer ? {} : undefined);
  if (failure !== undefined) modelError(context, failure);
  const place = factBase(context, `turn_end:${endedTurn(context)}`);
  sink.other({ kind: "turn_end", ...place, durationMs: asCount(p["duration_ms"]) });
  state.answer = undefined;
  state.searches = undefined;
  state.isWaiting = undefined;
}

export function turnAborted(context: LineContext): void {
  context.sink.other({ kind: "interruption", ...factBase(context, `interruption:${endedTurn(context)}`) });
  turnEnd(context);
}

/** Uses only the error's type (a name, or an object with the name as its only member): the message can contain anything. */
export function modelError(context: LineContext, failure: Line): void {
  const info = failure["codex_error_info"];
  const [name, details] = Object.entries(asObject(info) ?? {})[0] ?? [info, undefined];
  if (REFUSED_REQUESTS.has(name)) return;
  context.sink.other({
    kind: "model_error",
    ...factBase(context, `error:${context.state.turnId ?? context.timeMs}`),
    errorType: asCode(name) ?? "_OTHER",
    httpStatus: asCount(asObject(details)?.["http_status_code"]),
    final: true,
  });
}

// --- internal ---

/** The turn that the line names. For a review, it is not the current turn, which has the reviewer's id and another file. */
const endedTurn = ({ p, timeMs, state }: LineContext): string | number =>
  asString(p["turn_id"]) ?? state.turnId ?? timeMs;

const TURN_ID_PREFIX = "turn@";

/** Errors of requests that Codex refuses during a turn; the turn continues. */
const REFUSED_REQUESTS: ReadonlySet<unknown> = new Set(["active_turn_not_steerable", "thread_rollback_failed"]);
