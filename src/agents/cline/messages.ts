import { idInAgent, idWithoutAgent, isBareCount, laterId } from "../../model/call-ids.ts";
import { defined } from "../../model/defined.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "../../model/transcript.ts";
import { providerName } from "../shared/names/providers.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import { executableIn, mcpServerOf } from "./adapter.ts";
import { callResultOf } from "./tool-result.ts";

/** What earlier messages mean for the next one. */
export interface State {
  readonly timeMs: number;
  /** Key of the current turn's prompt. */
  readonly promptKey?: string;
  /** When the model last received input. */
  readonly inputMs?: number;
  /** Call id → the message that contains the call. */
  readonly messageOfCall: ReadonlyMap<string, string>;
  /** Id in the messages → the last call with it: some providers restart their ids at 0 in each answer. */
  readonly lastOf: ReadonlyMap<string, string>;
  /** The last answer's calls without a result, in order. */
  readonly openCalls: readonly string[];
  readonly hasNoResult: boolean;
}

export const firstState = (timeMs: number): State => ({
  timeMs,
  messageOfCall: new Map(),
  lastOf: new Map(),
  openCalls: [],
  hasNoResult: false,
});

/**
 * One message → its entries.
 *
 * @param agentId the subagent whose file contains it
 * @returns `undefined` if it is no message
 */
export function readMessage(
  message: Message,
  state: State,
  agentId: string | undefined,
): { readonly entries: readonly TranscriptEntry[]; readonly state: State } | undefined {
  const role = message["role"];
  if (role !== "user" && role !== "assistant") return undefined;
  const timeMs = asCount(message["ts"]) ?? state.timeMs;
  const id = asString(message["id"]) ?? `${role}:${timeMs}`;
  const here: Here = { message, id, timeMs, state: { ...state, timeMs }, agentId };
  return role === "user" ? userMessage(here) : assistantMessage(here);
}

/** The typed text of a message, without the wrapper that the program adds; `undefined` if there is none. */
export function typedText(message: Message): string | undefined {
  const whole = wholeText(message);
  return TYPED.exec(whole ?? "")?.[1] ?? whole;
}

export type Message = Readonly<Record<string, unknown>>;

// --- internal ---

interface Here {
  readonly message: Message;
  readonly id: string;
  readonly timeMs: number;
  readonly state: State;
  readonly agentId: string | undefined;
}

function at(here: Here, key: string, globalKey?: string) {
  return defined<{ key: string; timeMs: number; globalKey: string; promptKey: string; agentId: string }>({
    key,
    timeMs: here.timeMs,
    globalKey,
    promptKey: here.state.promptKey,
    agentId: here.agentId,
  });
}

const blocksOf = (message: Message): readonly Message[] =>
  asArray(message["content"])
    .map(asObject)
    .filter((block) => block !== undefined);

/** What the user typed, including while the agent was working. */
const TYPED = /<user_input(?: [^<>]*)?>([\s\S]*?)<\/user_input>/;

function wholeText(message: Message): string | undefined {
  const content = message["content"];
  const texts = typeof content === "string" ? [content] : blocksOf(message).flatMap((block) => textIn(block) ?? []);
  return texts.length === 0 ? undefined : texts.join("\n");
}

const textIn = (block: Message): string | undefined =>
  block["type"] === "text" && typeof block["text"] === "string" ? block["text"] : undefined;

/** Shown to the user only, or written by the program in the user's name: not part of the conversation. */
function isAside(message: Message): boolean {
  const metadata = asObject(message["metadata"]);
  const shownAs = asString(metadata?.["displayRole"])?.trim().toLowerCase() ?? "";
  return (
    metadata?.["displayOnly"] === true ||
    metadata?.["kind"] === "recovery_notice" ||
    ["system", "status", "error"].includes(shownAs)
  );
}

/** Messages from the program to the model in the user's name, e.g. that an answer was cut off: the turn continues. */
const isReminder = (message: Message): boolean =>
  asObject(message["metadata"])?.["userRunSpan"] === 0 && !TYPED.test(wholeText(message) ?? "");

function userMessage(here: Here) {
  const { message, state } = here;
  const results = blocksOf(message).filter((block) => block["type"] === "tool_result");
  if (results.length > 0) {
    const entries = results.flatMap((block) => toolResult(here, block) ?? []);
    const answered = new Set(entries.map((entry) => entry.callId));
    return {
      entries,
      state: {
        ...state,
        inputMs: here.timeMs,
        openCalls: state.openCalls.filter((callId) => !answered.has(callId)),
        hasNoResult: false,
      },
    };
  }
  if (isAside(message)) return { entries: [], state };
  if (here.agentId !== undefined || isReminder(message)) {
    return { entries: [], state: { ...state, inputMs: here.timeMs } };
  }
  const promptKey = `prompt:${here.id}`;
  const next = { ...state, promptKey, inputMs: here.timeMs, openCalls: [], hasNoResult: false };
  const prompt: TranscriptEntry = {
    kind: "prompt",
    ...at({ ...here, state: next }, promptKey, promptKey),
    origin: "human",
    ...defined<{ length: number }>({ length: typedText(message)?.length }),
  };
  return { entries: [prompt], state: next };
}

function toolResult(here: Here, block: Message): EntryOf<"tool_result"> | undefined {
  const given = asString(block["tool_use_id"]);
  if (given === undefined) return undefined;
  return resultOf(
    here,
    here.state.lastOf.get(given) ?? idInAgent(given, here.agentId),
    block["content"],
    block["is_error"] === true,
  );
}

function resultOf(here: Here, callId: string, output: unknown, failed: boolean): EntryOf<"tool_result"> {
  const { status, errorType, exitCode } = callResultOf(output, failed);
  return {
    kind: "tool_result",
    // A resumed session gives the message a new id; the message with the call keeps its id
    ...at(
      here,
      `result:${callId}`,
      `result:${here.state.messageOfCall.get(callId) ?? here.id}:${idWithoutAgent(callId, here.agentId)}`,
    ),
    callId,
    status,
    ...defined<{ errorType: string; exitCode: number }>({ errorType, exitCode }),
  };
}

function assistantMessage(here: Here) {
  const { message, id, state } = here;
  if (id.startsWith("error_") || asObject(message["metadata"])?.["displayRole"] === "error") {
    const error: TranscriptEntry = {
      kind: "model_error",
      ...at(here, `error:${id}`),
      errorType: "_OTHER",
      final: true,
    };
    return { entries: [error], state };
  }
  if (isAside(message)) return { entries: [], state };
  const usage = usageOf(asObject(message["metrics"]));
  const model = asObject(message["modelInfo"]);
  const blocks = blocksOf(message);
  if (usage === undefined && blocks.length === 0) return { entries: [], state };

  const uses = blocks.flatMap((block) => (block["type"] === "tool_use" ? (toolUse(here, block) ?? []) : []));
  const key = `message:${id}`;
  const call: EntryOf<"model_call"> = {
    kind: "model_call",
    ...at(here, key, key),
    endMs: here.timeMs,
    complete: usage !== undefined,
    ...defined<{ model: string; provider: string; startMs: number; usage: TokenUsage; asksForTools: true }>({
      model: asString(model?.["id"]),
      provider: providerName(model?.["provider"]),
      startMs: state.inputMs,
      usage,
      asksForTools: uses.length > 0 ? true : undefined,
    }),
  };
  const callIds = uses.map((use) => use.callId);
  const given = blocks.flatMap((block) => (block["type"] === "tool_use" ? (asString(block["id"]) ?? []) : []));
  const later = given.filter((callId) => uniqueId(here, callId) !== idInAgent(callId, here.agentId));
  return {
    entries: [call, ...uses, ...modelToolActivities(here)],
    state: {
      ...state,
      messageOfCall: new Map([...state.messageOfCall, ...callIds.map((callId) => [callId, id] as const)]),
      lastOf:
        later.length === 0
          ? state.lastOf
          : new Map([...state.lastOf, ...later.map((callId) => [callId, uniqueId(here, callId)] as const)]),
      openCalls: callIds,
      hasNoResult: callIds.length > 0,
    },
  };
}

const toolUse = (here: Here, block: Message): EntryOf<"tool_use"> | undefined =>
  useOf(here, asString(block["id"]), asString(block["name"]), block["input"]);

/** The id of a call; with its answer's id if another answer of this conversation has the same id. */
function uniqueId(here: Here, given: string): string {
  const own = idInAgent(given, here.agentId);
  const first = here.state.messageOfCall.get(own);
  return first === undefined || first === here.id ? own : laterId(given, here.id);
}

function useOf(here: Here, given: string | undefined, name: string | undefined, input: unknown) {
  if (given === undefined || name === undefined) return undefined;
  const callId = uniqueId(here, given);
  return {
    kind: "tool_use" as const,
    ...at(here, `use:${callId}`, `use:${here.id}:${idWithoutAgent(callId, here.agentId)}`),
    callId,
    name,
    ...(isBareCount(given) && { givenId: given }),
    ...defined<{ executable: string; mcpServer: string }>({
      executable: executableIn(input),
      mcpServer: mcpServerOf(name),
    }),
  };
}

/** Tools that ran at the provider within one answer; hooks do not report them. */
function modelToolActivities(here: Here): readonly TranscriptEntry[] {
  const activities = asArray(asObject(here.message["metadata"])?.["modelToolActivities"]);
  return activities.flatMap((value): TranscriptEntry[] => {
    const activity = asObject(value) ?? {};
    const use = useOf(here, asString(activity["toolCallId"]), asString(activity["toolName"]), activity["input"]);
    if (use === undefined) return [];
    const isOver = "output" in activity || "isError" in activity;
    return isOver ? [use, resultOf(here, use.callId, activity["output"], activity["isError"] === true)] : [use];
  });
}

/** Input includes cache reads and writes, output includes reasoning; reasoning alone is not recorded. */
function usageOf(metrics: Message | undefined): TokenUsage | undefined {
  const input = asCount(metrics?.["inputTokens"]);
  const output = asCount(metrics?.["outputTokens"]);
  if (input === undefined || output === undefined) return undefined;
  return defined<TokenUsage>({
    input,
    output,
    cacheRead: asCount(metrics?.["cacheReadTokens"]),
    cacheWrite: asCount(metrics?.["cacheWriteTokens"]),
  } as TokenUsage);
}
