// Lines as written by 2.1.0, recorded and read in the program, 2026-11-26; rules in README.md beside this file
import type { FactSink } from "#core/model/fact-sink.ts";
import { asCode, asCount, asObject, asString, type Fields, parsedObject } from "../shared/payload/json.ts";
import type { JsonLine } from "../shared/transcript/json-line.ts";
import { UNREADABLE } from "../shared/transcript/read-lines.ts";
import { factBase, type LineContext, placeKey, type WireState } from "./line-context.ts";
import { request, retried, stepEnd, usageRecord } from "./model-calls.ts";
import { promptText } from "./names.ts";
import { subagentSpawned, toolResult, toolUse } from "./tool-calls.ts";

/** Known kinds of lines, with or without facts. */
export const KINDS: readonly string[] =
  `metadata forked runtime.set_binding profile.bind config.update permission.set_mode turn.prompt turn.steer turn.ended
  turn.step.retrying turn.step.interrupted prompt.completed context.append_message context.append_loop_event
  context.apply_compaction context.clear context.undo context.undone agent.message.appended agent.turn.started
  agent.turn.ended plugin.session_start llm.request llm.tools_snapshot usage.record token_counting.measured
  token_counting.rebased token_counting.turn_recorded full_compaction.begin full_compaction.complete subagent.spawned
  subagent.started subagent.completed subagent.failed task.started task.terminated`.split(/\s+/);

/** Reads one line. @returns its kind; `UNREADABLE` when it is no JSON object */
export function readLine(line: JsonLine, state: WireState, sink: FactSink, agentId: string | undefined): unknown {
  const o = parsedObject(line.bytes);
  if (o === undefined) return UNREADABLE;
  const timeMs = asCount(o["time"]) ?? state.timeMs;
  state.timeMs = timeMs;
  readKind(o["type"], { o, timeMs, agentId, state, sink });
  return o["type"];
}

/** The event in a line of the agent's loop. */
export const loopEvent = (o: Fields): Fields => asObject(o["event"]) ?? {};

// --- internal ---

function readKind(kind: unknown, context: LineContext): void {
  const { o, timeMs, state, sink } = context;
  switch (kind) {
    case "turn.prompt":
      prompt(context);
      break;
    case "llm.request":
      request(context);
      break;
    case "usage.record":
      usageRecord(context);
      break;
    case "context.append_loop_event":
      loop(context, loopEvent(o));
      break;
    case "subagent.spawned":
      subagentSpawned(context);
      break;
    case "turn.step.retrying":
      retried(context);
      break;
    case "turn.ended":
      turnEnded(context);
      break;
    case "full_compaction.begin":
      state.compaction = asCode(o["source"]);
      break;
    case "context.apply_compaction": {
      const key = placeKey(context, "compaction", timeMs);
      sink.other({ kind: "compaction", ...factBase(context, key), trigger: state.compaction });
      break;
    }
    default:
  }
}

/** Messages that steer a running turn are `turn.steer` lines and start none. A subagent's task is no prompt. */
function prompt(context: LineContext): void {
  const { o, timeMs, agentId, state, sink } = context;
  if (agentId !== undefined) return;
  const isHuman = asObject(o["origin"])?.["kind"] === "user";
  const promptKey = asString(o["promptId"]) ?? `turn:${asCount(o["turnId"]) ?? ""}:${timeMs}`;
  state.promptKey = promptKey;
  sink.prompt(factBase(context, `prompt:${promptKey}`, `prompt:${promptKey}`), {
    origin: isHuman ? "human" : "machine",
    length: isHuman ? promptText(o["input"])?.length : undefined,
  });
}

function loop(context: LineContext, event: Fields): void {
  const { state } = context;
  switch (event["type"]) {
    case "step.begin":
      [state.step, state.answer, state.answers] = [asString(event["uuid"]), undefined, undefined];
      break;
    case "tool.call":
      toolUse(context, event);
      break;
    case "tool.result":
      toolResult(context, event);
      break;
    case "step.end":
      stepEnd(context, event);
      break;
    default:
  }
}

function turnEnded(context: LineContext): void {
  const { o, timeMs, sink } = context;
  const id = `${asCount(o["turnId"]) ?? ""}:${timeMs}`;
  const error = asObject(o["error"]);
  if (o["reason"] === "failed") {
    const status = asCount(asObject(error?.["details"])?.["statusCode"]);
    sink.other({
      kind: "model_error",
      ...factBase(context, placeKey(context, "failure", id)),
      errorType: asCode(error?.["name"]) ?? asCode(error?.["code"]) ?? "_OTHER",
      httpStatus: status,
      final: true,
    });
  }
  if (o["reason"] === "cancelled")
    sink.other({ kind: "interruption", ...factBase(context, placeKey(context, "interruption", id)) });
  const place = factBase(context, placeKey(context, "turn_end", id));
  sink.other({ kind: "turn_end", ...place, durationMs: asCount(o["durationMs"]) });
}
