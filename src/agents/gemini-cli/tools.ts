import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { idInAgent, idWithoutAgent, isRandomId, repeatedCallId } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { writesOfDisplay } from "../shared/gemini/file-writes.ts";
import { editedLines, exitCodeIn, isCancelled, outcomeOf, SHELL_TOOL } from "../shared/gemini/tool-result.ts";
import { executableOf } from "../shared/names/executables.ts";
import { skillOf } from "../shared/names/skill.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asArray, asObject, asString, asTimeMs, type Fields } from "../shared/payload/json.ts";
import { entryBase, type MessageContext } from "./state.ts";

/**
 * The tool calls of one answer, and the subagents they started. A running call has a use and no result. Two sessions can create
 * the same call id in one millisecond, so the global key also contains the answer's id.
 */
export function callEntries(context: MessageContext, calls: readonly unknown[]): readonly TranscriptEntry[] {
  return calls.flatMap((value): TranscriptEntry[] => {
    const call = asObject(value) ?? {};
    const callId = asString(call["id"]);
    const name = asString(call["name"]);
    if (callId === undefined || name === undefined) return [];
    const args = asObject(call["args"]);
    // The end of the call. An answer that only has calls has the same time
    const endMs = asTimeMs(call["timestamp"]) ?? context.timeMs;
    // Without the agent: with the answer's id it is unique
    const localId = idWithoutAgent(callId, context.agentId);
    const use = defined<EntryOf<"tool_use">>({
      kind: "tool_use",
      ...entryBase(
        { ...context, timeMs: Math.min(context.timeMs, endMs) },
        `use:${callId}`,
        `use:${context.id}:${localId}`,
      ),
      callId,
      name,
      executable: name === SHELL_TOOL ? executableOf(args?.["command"]) : undefined,
      skill: skillOf(name, args),
      mcpServer: /\((.+) MCP Server\)$/.exec(asString(call["displayName"]) ?? "")?.[1],
      inputDigest: inputDigest(call["args"]),
    });
    const ended = { ...context, timeMs: endMs };
    return [use, ...resultOf(ended, callId, name, call), ...subagentOf(ended, callId, name, call)];
  });
}

/**
 * Makes call ids unique: some servers number them from 0 in every answer. The first call with such an id keeps it, for later ones
 * the answer's id is added. In a subagent, where such ids restart, the subagent's id is added.
 *
 * @param isRequest whether the message is an answer; other messages repeat calls of earlier answers
 * @returns the calls, and the ids to store in the state
 */
export function uniqueCalls({ id, state, agentId }: MessageContext, calls: readonly unknown[], isRequest: boolean) {
  let { givenIn = [] } = state;
  const unique = calls.map((value) => {
    const call = asObject(value) ?? {};
    const callId = asString(call["id"]);
    if (callId === undefined || isRandomId(callId) || GENERATED_ID.test(callId)) return value;
    const answers = givenIn.filter(([one]) => one === callId).map(([, answer]) => answer);
    const answer = isRequest ? id : answers.at(-1);
    if (isRequest && !answers.includes(id)) givenIn = [...givenIn, [callId, id] as const].slice(-REMEMBERED_IDS);
    const isFirst = answer === undefined || answers.length === 0 || answers[0] === answer;
    return { ...call, id: isFirst ? idInAgent(callId, agentId) : repeatedCallId(callId, answer) };
  });
  return { calls: unique, given: givenIn.length === 0 ? {} : { givenIn } };
}

/** The tools that change files. */
export const EDITORS: ReadonlySet<string> = new Set(["write_file", "replace"]);

// --- internal ---

/** Ids that Gemini CLI creates contain the time. */
const GENERATED_ID = /[-_]1\d{12}[-_][0-9a-f]+$/;
const REMEMBERED_IDS = 500;

function resultOf(context: MessageContext, callId: string, name: string, call: Fields): readonly TranscriptEntry[] {
  const response = responseOf(call["result"]);
  const error = asString(response?.["error"]) ?? asString(call["resultDisplay"]);
  const output = asString(response?.["output"]) ?? asString(call["result"]);
  const outcome = outcomeOf(call["status"], error, isCancelled(name, output));
  if (outcome === undefined) return [];
  const isSuccess = outcome.status === "success";
  const lines = isSuccess ? editedLines(call["resultDisplay"]) : undefined;
  const given = asString(asObject(call["args"])?.["file_path"]);
  return [
    defined<EntryOf<"tool_result">>({
      kind: "tool_result",
      ...entryBase(context, `result:${callId}`, `result:${context.id}:${idWithoutAgent(callId, context.agentId)}`),
      callId,
      status: outcome.status,
      errorType: outcome.errorType,
      exitCode: exitCodeIn(name, output),
      linesAdded: lines?.added,
      linesRemoved: lines?.removed,
      spawnedAgentId: asString(call["agentId"]),
      files: isSuccess && EDITORS.has(name) ? writesOfDisplay(call["resultDisplay"], given) : undefined,
    }),
  ];
}

function responseOf(result: unknown): Fields | undefined {
  for (const part of asArray(result)) {
    const response = asObject(asObject(asObject(part)?.["functionResponse"])?.["response"]);
    if (response !== undefined) return response;
  }
  return undefined;
}

/** Type and parent call of a subagent, which the subagent's file does not contain. */
function subagentOf(context: MessageContext, callId: string, name: string, call: Fields): readonly TranscriptEntry[] {
  const agentId = asString(call["agentId"]);
  if (agentId === undefined) return [];
  // Older versions have one tool per subagent, with the subagent's name
  const named = asString(asObject(call["args"])?.["agent_name"]);
  // The argument is the model's text, so it is used only if it has the form of a name
  const isValidName = named !== undefined && /^[\w.:@/-]{1,64}$/.test(named);
  const agentType = isValidName ? named : name === "invoke_agent" ? undefined : name;
  return [
    defined<EntryOf<"subagent">>({
      kind: "subagent",
      ...entryBase({ ...context, agentId }, `subagent:${agentId}`, `subagent:${context.id}:${callId}`),
      agentType,
      parentCallId: callId,
      parentAgentId: context.agentId,
    }),
  ];
}
