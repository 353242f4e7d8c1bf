import type { FileWrite } from "#core/model/file-write.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "#core/model/transcript.ts";
import { idInAgent, idWithoutAgent, isSequenceNumber, repeatedCallId } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { providerName } from "../shared/names/providers.ts";
import { skillOf } from "../shared/names/skill.ts";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import { executableIn, mcpServerOf } from "./adapter.ts";
import { writesOfCall } from "./file-writes.ts";
import { callResultOf } from "./tool-result.ts";

/** State between two messages. */
interface State {
  readonly timeMs: number;
  /** Key of the current turn's prompt. */
  readonly promptKey?: string;
  /** When the model last received input. */
  readonly inputMs?: number;
  /** Call id → the message that contains the call. */
  readonly messageOfCall: ReadonlyMap<string, string>;
  /** Id in the messages → the latest call with that id: some providers restart their ids at 0 in each answer. */
  readonly latestCallId: ReadonlyMap<string, string>;
  /** The last answer's calls without a result, in order. */
  readonly openCalls: readonly string[];
  readonly hasNoResult: boolean;
}

export const initialState = (timeMs: number): State => ({
  timeMs,
  messageOfCall: new Map(),
  latestCallId: new Map(),
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
  const context: MessageContext = { message, id, timeMs, state: { ...state, timeMs }, agentId };
  return role === "user" ? userMessage(context) : assistantMessage(context);
}

/** The typed text of a message, without the wrapper that the program adds; `undefined` if there is none. */
export function typedText(message: Message): string | undefined {
  const whole = wholeText(message);
  return USER_INPUT.exec(whole ?? "")?.[1] ?? whole;
}

export type Message = Readonly<Record<string, unknown>>;

// --- internal ---

interface MessageContext {
  readonly message: Message;
  readonly id: string;
  readonly timeMs: number;
  readonly state: State;
  readonly agentId: string | undefined;
}

function entryBase(context: MessageContext, key: string, globalKey?: string) {
  return defined<{ key: string; timeMs: number; globalKey: string; promptKey: string; agentId: string }>({
    key,
    timeMs: context.timeMs,
    globalKey,
    promptKey: context.state.promptKey,
    agentId: context.agentId,
  });
}

const blocksOf = (message: Message): readonly Message[] =>
  asArray(message["content"])
    .map(asObject)
    .filter((block) => block !== undefined);

/** The wrapper around what the user typed, also while the agent was working. */
const USER_INPUT = /<user_input(?: [^<>]*)?>([\s\S]*?)<\/user_input>/;

function wholeText(message: Message): string | undefined {
  const content = message["content"];
  const texts = typeof content === "string" ? [content] : blocksOf(message).flatMap((block) => textIn(block) ?? []);
  return texts.length === 0 ? undefined : texts.join("\n");
}

const textIn = (block: Message): string | undefined =>
  block["type"] === "text" && typeof block["text"] === "string" ? block["text"] : undefined;

/** A message that the program shows only to the user; it is not part of the conversation. */
function isProgramMessage(message: Message): boolean {
  const metadata = asObject(message["metadata"]);
  const displayRole = asString(metadata?.["displayRole"])?.trim().toLowerCase() ?? "";
  return (
    metadata?.["displayOnly"] === true ||
    metadata?.["kind"] === "recovery_notice" ||
    ["system", "status", "error"].includes(displayRole)
  );
}

/** A user message that the program wrote for the model, e.g. that an answer was cut off. The turn continues. */
const isReminder = (message: Message): boolean =>
  asObject(message["metadata"])?.["userRunSpan"] === 0 && !USER_INPUT.test(wholeText(message) ?? "");

function userMessage(context: MessageContext) {
  const { message, state } = context;
  const results = blocksOf(message).filter((block) => block["type"] === "tool_result");
  if (results.length > 0) {
    const entries = results.flatMap((block) => toolResult(context, block) ?? []);
    const answered = new Set(entries.map((entry) => entry.callId));
    return {
      entries,
      state: {
        ...state,
        inputMs: context.timeMs,
        openCalls: state.openCalls.filter((callId) => !answered.has(callId)),
        hasNoResult: false,
      },
    };
  }
  if (isProgramMessage(message)) return { entries: [], state };
  if (context.agentId !== undefined || isReminder(message)) {
    return { entries: [], state: { ...state, inputMs: context.timeMs } };
  }
  const promptKey = `prompt:${context.id}`;
  const next = { ...state, promptKey, inputMs: context.timeMs, openCalls: [], hasNoResult: false };
  const prompt: TranscriptEntry = {
    kind: "prompt",
    ...entryBase({ ...context, state: next }, promptKey, promptKey),
    origin: "human",
    ...defined<{ length: number }>({ length: typedText(message)?.length }),
  };
  return { entries: [prompt], state: next };
}

function toolResult(context: MessageContext, block: Message): EntryOf<"tool_result"> | undefined {
  const given = asString(block["tool_use_id"]);
  if (given === undefined) return undefined;
  return resultOf(
    context,
    context.state.latestCallId.get(given) ?? idInAgent(given, context.agentId),
    block["content"],
    block["is_error"] === true,
  );
}

function resultOf(context: MessageContext, callId: string, output: unknown, failed: boolean): EntryOf<"tool_result"> {
  const { status, errorType, exitCode } = callResultOf(output, failed);
  return {
    kind: "tool_result",
    // When a session is resumed, the id of this message changes, but not the id of the message that contains the call
    ...entryBase(
      context,
      `result:${callId}`,
      `result:${context.state.messageOfCall.get(callId) ?? context.id}:${idWithoutAgent(callId, context.agentId)}`,
    ),
    callId,
    status,
    ...defined<{ errorType: string; exitCode: number }>({ errorType, exitCode }),
  };
}

function assistantMessage(context: MessageContext) {
  const { message, id, state } = context;
  if (id.startsWith("error_") || asObject(message["metadata"])?.["displayRole"] === "error") {
    const error: TranscriptEntry = {
      kind: "model_error",
      ...entryBase(context, `error:${id}`),
      errorType: "_OTHER",
      final: true,
    };
    return { entries: [error], state };
  }
  if (isProgramMessage(message)) return { entries: [], state };
  const usage = usageOf(asObject(message["metrics"]));
  const model = asObject(message["modelInfo"]);
  const blocks = blocksOf(message);
  if (usage === undefined && blocks.length === 0) return { entries: [], state };

  const uses = blocks.flatMap((block) => (block["type"] === "tool_use" ? (toolUse(context, block) ?? []) : []));
  const key = `message:${id}`;
  const call: EntryOf<"model_call"> = {
    kind: "model_call",
    ...entryBase(context, key, key),
    endMs: context.timeMs,
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
  const repeatedIds = given.filter((callId) => uniqueId(context, callId) !== idInAgent(callId, context.agentId));
  return {
    entries: [call, ...uses, ...modelToolActivities(context)],
    state: {
      ...state,
      messageOfCall: new Map([...state.messageOfCall, ...callIds.map((callId) => [callId, id] as const)]),
      latestCallId:
        repeatedIds.length === 0
          ? state.latestCallId
          : new Map([
              ...state.latestCallId,
              ...repeatedIds.map((callId) => [callId, uniqueId(context, callId)] as const),
            ]),
      openCalls: callIds,
      hasNoResult: callIds.length > 0,
    },
  };
}

const toolUse = (context: MessageContext, block: Message): EntryOf<"tool_use"> | undefined =>
  toolUseOf(context, asString(block["id"]), asString(block["name"]), block["input"]);

/** The id of a call, with the answer's id added if an earlier answer of this conversation has a call with the same id. */
function uniqueId(context: MessageContext, given: string): string {
  const own = idInAgent(given, context.agentId);
  const first = context.state.messageOfCall.get(own);
  return first === undefined || first === context.id ? own : repeatedCallId(given, context.id);
}

function toolUseOf(context: MessageContext, given: string | undefined, name: string | undefined, input: unknown) {
  if (given === undefined || name === undefined) return undefined;
  const callId = uniqueId(context, given);
  return {
    kind: "tool_use" as const,
    ...entryBase(context, `use:${callId}`, `use:${context.id}:${idWithoutAgent(callId, context.agentId)}`),
    callId,
    name,
    ...(isSequenceNumber(given) && { givenId: given }),
    ...defined<{ executable: string; skill: string; mcpServer: string; files: readonly FileWrite[] }>({
      executable: executableIn(input),
      skill: skillOf(name, input),
      mcpServer: mcpServerOf(name),
      files: writesOfCall(name, input),
    }),
  };
}

/** Tools that the provider ran during one answer; hooks do not report them. */
function modelToolActivities(context: MessageContext): readonly TranscriptEntry[] {
  const activities = asArray(asObject(context.message["metadata"])?.["modelToolActivities"]);
  return activities.flatMap((value): TranscriptEntry[] => {
    const activity = asObject(value) ?? {};
    const use = toolUseOf(context, asString(activity["toolCallId"]), asString(activity["toolName"]), activity["input"]);
    if (use === undefined) return [];
    const hasResult = "output" in activity || "isError" in activity;
    return hasResult ? [use, resultOf(context, use.callId, activity["output"], activity["isError"] === true)] : [use];
  });
}

/** Input includes cache reads and writes; output includes reasoning, which is not recorded separately. */
function usageOf(metrics: Message | undefined): TokenUsage | undefined {
  const counts = defined<TokenUsage>({
    input: asCount(metrics?.["inputTokens"]),
    output: asCount(metrics?.["outputTokens"]),
    cacheRead: asCount(metrics?.["cacheReadTokens"]),
    cacheWrite: asCount(metrics?.["cacheWriteTokens"]),
  });
  return Object.keys(counts).length === 0 ? undefined : counts;
}
