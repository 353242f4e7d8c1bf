import { asCode, asCount, asObject, asString } from "../shared/payload/json.ts";
import { asking, enterTurn, isSubagent, type Line, type LineContext, placeOf } from "./line-context.ts";
import { outputText } from "./outcome.ts";

/** What a user wrote; the first of it is the turn's prompt. A subagent's task comes from another agent: it is no prompt. */
export function prompt(context: LineContext, content: unknown): void {
  const { p, timeMs, state, sink } = context;
  if (isSubagent(state)) {
    state.inputMs = timeMs;
    return;
  }
  enterTurn(state, p);
  // Before turns had ids a message began one
  const isNameless = state.turnId === undefined || state.turnId.startsWith(NAMELESS);
  const turnId = isNameless ? `${NAMELESS}${timeMs}` : state.turnId;
  const isFirst = state.prompted !== turnId;
  state.turnId = turnId;
  state.prompted = turnId;
  asking(state, timeMs);
  if (!isFirst) return;
  const text = outputText(content);
  sink.prompt(placeOf(context, `prompt:${turnId}:${timeMs}`), {
    origin: "human",
    length: text === "" ? undefined : text.length,
  });
}

/** The turn's last line, with what made it fail, where it did. */
export function turnEnd(context: LineContext): void {
  const { p, state, sink } = context;
  // Before 0.150 a failed turn says nothing of it, but that it ended without a word
  const isMute = p["last_agent_message"] === null && state.isWaiting === true;
  const failure = asObject(p["error"]) ?? (isMute ? {} : undefined);
  if (failure !== undefined) modelError(context, failure);
  const place = placeOf(context, `turn_end:${endedTurn(context)}`);
  sink.other({ kind: "turn_end", ...place, durationMs: asCount(p["duration_ms"]) });
  state.answer = undefined;
  state.isWaiting = undefined;
}

export function turnAborted(context: LineContext): void {
  context.sink.other({ kind: "interruption", ...placeOf(context, `interruption:${endedTurn(context)}`) });
  turnEnd(context);
}

/** The message may hold anything; its kind is a name, or an object whose only member is the name. */
export function modelError(context: LineContext, failure: Line): void {
  const info = failure["codex_error_info"];
  const [name, details] = Object.entries(asObject(info) ?? {})[0] ?? [info, undefined];
  if (OF_NO_TURN.has(name)) return;
  context.sink.other({
    kind: "model_error",
    ...placeOf(context, `error:${context.state.turnId ?? context.timeMs}`),
    errorType: asCode(name) ?? "_OTHER",
    httpStatus: asCount(asObject(details)?.["http_status_code"]),
    final: true,
  });
}

// --- internal ---

/** As the line names it: the turn of a review goes by the reviewer's id, which ends in its own file. */
const endedTurn = ({ p, timeMs, state }: LineContext): string | number =>
  asString(p["turn_id"]) ?? state.turnId ?? timeMs;

const NAMELESS = "turn@";

/** What was asked of a turn and refused, while the turn goes on. */
const OF_NO_TURN: ReadonlySet<unknown> = new Set(["active_turn_not_steerable", "thread_rollback_failed"]);
