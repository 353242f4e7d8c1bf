import type { Content } from "#core/model/content.ts";
import type { FactBase, FactSink } from "#core/model/fact-sink.ts";
import { idInAgent, isSequenceNumber } from "#core/rules/call-ids.ts";
import { contentOf, plainText } from "../shared/payload/content.ts";
import { asArray, asCode, asCount, asObject, asString, type Fields, parsedJson } from "../shared/payload/json.ts";
import { fieldsIn, keyOf } from "./journal-state.ts";
import { isKilled, mcpServerOf, promptText, SPAWN_TOOL, toolName } from "./names.ts";
import type { Lists, Snapshot } from "./snapshot.ts";

/**
 * Puts prompts, tool calls and turn ends of deleted journals, with the keys that those of journals have.
 *
 * @returns the content of prompts and calls, and each turn's last answer, which has no model call to belong to
 */
export function putHistory(
  lists: Lists,
  snapshot: Snapshot,
  agentId: string | undefined,
  sink: FactSink,
): readonly Content[] {
  const content: Content[] = [];
  const turns = turnsIn(lists.shown);
  for (const turn of turns) {
    const base = { promptKey: agentId === undefined ? turn.id : undefined, agentId };
    if (agentId === undefined && turn.prompt !== undefined) {
      const key = keyOf.prompt(turn.id);
      sink.prompt(
        { key, globalKey: key, timeMs: turn.startMs, ...base },
        { origin: "human", length: turn.prompt.length },
      );
      content.push(...contentOf(key, "prompt", turn.prompt), ...contentOf(key, "answer", turn.answer));
    }
    if (turn.endMs !== undefined)
      sink.other({ kind: "turn_end", key: keyOf.turnEnd(turn.id), timeMs: turn.endMs, ...base });
  }
  putLatest(snapshot, agentId, sink);
  putCalls(lists.known, turns, { agentId, sink, content });
  return content;
}

/** The sum over all calls until the snapshot. The calls that journals reported are subtracted from it. */
export function putSum(
  { generation, createdMs, updatedMs, usage, turn }: Snapshot,
  { sessionId, agentId }: { readonly sessionId: string; readonly agentId: string | undefined },
  sink: FactSink,
): void {
  if (usage === undefined) return;
  const key = `sum:${sessionId}:${generation}`;
  sink.modelCall(
    {
      key,
      globalKey: key,
      timeMs: updatedMs,
      promptKey: agentId === undefined ? asString(turn["id"]) : undefined,
      agentId,
    },
    // A session can use several models, and the sum names none
    { startMs: createdMs - 1, endMs: updatedMs, usage, complete: true, covers: "removed" },
  );
}

// --- internal ---

interface ShownTurn {
  readonly id: string;
  readonly prompt: string | undefined;
  readonly startMs: number;
  /** Time of the answer, if the turn ends with one. */
  endMs?: number | undefined;
  /** The last text of the agent. */
  answer?: string | undefined;
  /** Tools that ran, in order. */
  readonly tools: ShownTool[];
  /** Ids of calls of programs, if hooks ran before them, in order. */
  readonly innerIds: string[];
}

interface ShownTool {
  readonly actionId: string | undefined;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly state: unknown;
  readonly given: unknown;
}

/** Where facts and their content go. */
interface Target {
  readonly agentId: string | undefined;
  readonly sink: FactSink;
  readonly content: Content[];
}

function turnsIn(shown: readonly Fields[]): readonly ShownTurn[] {
  const turns = new Map<string, ShownTurn>();
  let last: ShownTurn | undefined;
  for (const entry of shown) {
    const id = asString(entry["turnId"]);
    const detail = fieldsIn(entry, "detail");
    const innerId = INNER_ID.exec(asString(detail["toolCallId"]) ?? "")?.[0];
    if (innerId !== undefined && detail["kind"] === "hook_run_started" && detail["scope"] === "pre_tool")
      last?.innerIds.push(innerId);
    const startMs = asCount(entry["createdAt"]);
    if (id === undefined || startMs === undefined) continue;
    const endMs = asCount(entry["updatedAt"]) ?? startMs;
    const isPrompt = entry["role"] === "user" && entry["source"] === "turn_start";
    const turn = turns.get(id) ?? {
      id,
      prompt: isPrompt ? promptText(entry["content"]) : undefined,
      startMs,
      tools: [],
      innerIds: [],
    };
    turns.set(id, turn);
    last = turn;
    const isAnswer = entry["role"] === "assistant";
    turn.endMs = isAnswer ? endMs : undefined;
    if (isAnswer) turn.answer = promptText(entry["content"]) ?? turn.answer;
    const name = asString(detail["toolName"]);
    if (entry["type"] !== "effect" || name === undefined) continue;
    const actionId = /^effect-(.+)$/.exec(asString(entry["id"]) ?? "")?.[1];
    const { status } = fieldsIn(entry, "state");
    turn.tools.push({ actionId, name: toolName(name), startMs, endMs, state: status, given: detail["input"] });
  }
  return [...turns.values()];
}

/** A call of a program that `run_typescript` runs. */
const INNER_ID = /^typescript:.+$/;

/** Only the latest turn has a state. */
function putLatest({ turn }: Snapshot, agentId: string | undefined, sink: FactSink): void {
  const [id, timeMs] = [asString(turn["id"]), asCount(turn["completedAt"])];
  if (id === undefined || timeMs === undefined) return;
  const base = { timeMs, promptKey: agentId === undefined ? id : undefined, agentId };
  const error = fieldsIn(turn, "error");
  if (turn["status"] === "completed") sink.other({ kind: "turn_end", key: keyOf.turnEnd(id), ...base });
  if (turn["status"] === "interrupted") sink.other({ kind: "interruption", key: keyOf.interruption(id), ...base });
  if (turn["status"] === "failed")
    sink.other({
      kind: "model_error",
      key: keyOf.failure(id),
      ...base,
      errorType: asCode(error["code"]) ?? "_OTHER",
      httpStatus: asCount(fieldsIn(error, "details")["httpStatus"]),
      final: true,
    });
}

/** The conversation has the ids of calls, and what the user saw has their times. */
function putCalls(known: readonly Fields[], turns: readonly ShownTurn[], target: Target): void {
  const { agentId, sink, content } = target;
  const ran = turns.map(({ tools }) => [...tools]);
  const times = new Map<string, { readonly startMs: number; readonly endMs: number }>();
  for (const one of known) {
    const message = fieldsIn(one, "message");
    const at = asCount(one["turn_index"]) ?? -1;
    const turn = turns[at];
    const base = { promptKey: agentId === undefined ? turn?.id : undefined, agentId };
    for (const part of message["role"] === "assistant" ? asArray(message["content"]) : []) {
      const call = asObject(part) ?? {};
      const [given, name] = [asString(call["id"]), asString(call["name"])];
      if (call["type"] !== "tool_call" || given === undefined || name === undefined || turn === undefined) continue;
      const callId = idInAgent(given, agentId);
      // Nothing identifies the second call with an id
      if (times.has(callId)) continue;
      const place = ran[at]?.findIndex((tool) => tool.name === name) ?? -1;
      const [tool = { startMs: turn.startMs, endMs: turn.startMs }] =
        place === -1 ? [] : (ran[at]?.splice(place, 1) ?? []);
      times.set(callId, tool);
      sink.toolUse(
        { key: keyOf.use(callId), timeMs: tool.startMs, ...base },
        { callId, name, mcpServer: mcpServerOf(name), givenId: isSequenceNumber(given) ? given : undefined },
      );
      content.push(...contentOf(keyOf.use(callId), "arguments", fieldsIn(call, "arguments")["value"]));
    }
    const given = message["role"] === "tool" ? asString(message["tool_call_id"]) : undefined;
    const callId = given === undefined ? undefined : idInAgent(given, agentId);
    const time = callId === undefined ? undefined : times.get(callId);
    if (callId === undefined || time === undefined) continue;
    if (isKilled(asString(message["name"]), parsedJson(promptText(message["content"])))) continue;
    const status = message["outcome"] === "success" ? "success" : "error";
    sink.toolResult({ key: keyOf.result(callId), timeMs: time.endMs, ...base }, { callId, status });
    content.push(...contentOf(keyOf.result(callId), "result", plainText(message["content"])));
  }
  for (const [at, { id, innerIds }] of turns.entries()) {
    const base = { promptKey: agentId === undefined ? id : undefined, agentId };
    for (const [place, tool] of (ran[at] ?? []).entries()) putInner(innerIds[place], tool, base, target);
  }
}

/** The conversation does not have the calls of programs. Without the id that hooks report, a call could count twice. */
function putInner(
  callId: string | undefined,
  { name, actionId, startMs, endMs, state, given }: ShownTool,
  base: Pick<FactBase, "promptKey" | "agentId">,
  { sink, content }: Target,
): void {
  if (callId === undefined) return;
  sink.toolUse(
    { key: keyOf.use(callId), timeMs: startMs, ...base },
    { callId, name, mcpServer: mcpServerOf(name), givenId: name === SPAWN_TOOL ? actionId : undefined },
  );
  content.push(...contentOf(keyOf.use(callId), "arguments", given));
  const status = state === "completed" ? "success" : state === "skipped" ? "denied" : "error";
  if (state !== "running") sink.toolResult({ key: keyOf.result(callId), timeMs: endMs, ...base }, { callId, status });
}
