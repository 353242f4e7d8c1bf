import { defined } from "../../model/defined.ts";
import type { EntryOf, TranscriptEntry } from "../../model/transcript.ts";
import { asCode, asCount, asObject, asString } from "../shared/payload/json.ts";
import { outputText } from "./outcome.ts";
import { asking, at, type Here, inTurn, isSubagent, type Line, type Read } from "./state.ts";

/** What a user wrote; the first of it is the turn's prompt. A subagent's task comes from another agent: no prompt of anybody's. */
export function prompt(here: Here, content: unknown): Read {
  const { p, timeMs } = here;
  const named = inTurn(here.state, p);
  if (isSubagent(named)) return { entries: [], state: { ...here.state, inputMs: timeMs } };
  // Before turns had ids a message began one
  const isNameless = named.turnId === undefined || named.turnId.startsWith(NAMELESS);
  const turnId = isNameless ? `${NAMELESS}${timeMs}` : named.turnId;
  const state = asking({ ...named, turnId, prompted: turnId }, timeMs);
  if (named.prompted === turnId) return { entries: [], state };
  const text = outputText(content);
  const entry = defined<EntryOf<"prompt">>({
    kind: "prompt",
    ...at({ ...here, state }, `prompt:${state.turnId}:${timeMs}`),
    origin: "human",
    length: text === "" ? undefined : text.length,
  } as EntryOf<"prompt">);
  return { entries: [entry], state };
}

/** The turn's last line, with what made it fail, where it did. */
export function turnEnd(here: Here): Read {
  const { p, state } = here;
  // Before 0.150 a failed turn says nothing of it, but that it ended without a word
  const isMute = p["last_agent_message"] === null && state.isWaiting === true;
  const failure = asObject(p["error"]) ?? (isMute ? {} : undefined);
  const end = defined<EntryOf<"turn_end">>({
    kind: "turn_end",
    ...at(here, `turn_end:${ended(here)}`),
    durationMs: asCount(p["duration_ms"]),
  } as EntryOf<"turn_end">);
  const { answer: _, isWaiting: __, ...rest } = state;
  return { entries: [...(failure === undefined ? [] : modelError(here, failure)), end], state: rest };
}

export function turnAborted(here: Here): Read {
  const { entries, state } = turnEnd(here);
  const key = `interruption:${ended(here)}`;
  return { entries: [{ kind: "interruption", ...at(here, key) }, ...entries], state };
}

/** The message may hold anything; its kind is a name, or an object whose only member is the name. */
export function modelError(here: Here, failure: Line): readonly TranscriptEntry[] {
  const info = failure["codex_error_info"];
  const [name, details] = Object.entries(asObject(info) ?? {})[0] ?? [info, undefined];
  if (OF_NO_TURN.has(name)) return [];
  return [
    defined<EntryOf<"model_error">>({
      kind: "model_error",
      ...at(here, `error:${here.state.turnId ?? here.timeMs}`),
      errorType: asCode(name) ?? "_OTHER",
      httpStatus: asCount(asObject(details)?.["http_status_code"]),
      final: true,
    } as EntryOf<"model_error">),
  ];
}

// --- internal ---

/** As the line names it: the turn of a review goes by the reviewer's id, which ends in its own file. */
const ended = ({ p, timeMs, state }: Here): string | number => asString(p["turn_id"]) ?? state.turnId ?? timeMs;

const NAMELESS = "turn@";

/** What was asked of a turn and refused, while the turn goes on. */
const OF_NO_TURN: ReadonlySet<unknown> = new Set(["active_turn_not_steerable", "thread_rollback_failed"]);
