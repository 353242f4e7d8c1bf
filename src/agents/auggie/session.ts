// Form of session files: the program 0.36.0 and public readers named in README.md beside this file, read 2026-11-26; not recorded

import type { ContentUpdate } from "#core/model/content.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "#core/model/transcript.ts";
import { isRandomId, repeatedCallId } from "#core/rules/call-ids.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { sumKnown, withParts } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../shared/names/executables.ts";
import { providerName } from "../shared/names/providers.ts";
import { answerPiece, contentOf } from "../shared/payload/content.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import {
  asCount,
  asNanoUnits,
  asObject,
  asString,
  asTimeMs,
  type Fields,
  objectsIn,
  parsedJson,
} from "../shared/payload/json.ts";
import { writesOfCall } from "../shared/payload/tool-writes.ts";
import { exitCodeIn } from "./adapter.ts";
import { EDITORS } from "./own-names.ts";

/** What a session file contains. */
interface Session {
  readonly entries: readonly TranscriptEntry[];
  readonly content: readonly ContentUpdate[];
  /** Exchanges that were read. */
  readonly records: number;
}

/** A whole session. @param writtenMs when the file was written, for a session without any time */
export function readSession(session: Fields, writtenMs: number): Session {
  const createdMs = asTimeMs(session["created"]) ?? writtenMs;
  const walk = new Walk(createdMs, asString(asObject(session["agentState"])?.["modelId"]));
  const history = objectsIn(session["chatHistory"]);
  walk.session(session, history);
  for (const state of history) walk.exchange(state, {});
  for (const summary of objectsIn(session["summarizations"])) walk.summary(summary);
  for (const subagent of objectsIn(session["subAgents"])) walk.subagent(subagent);
  return { entries: walk.entries, content: walk.content, records: walk.records };
}

/** The members that the reader knows. */
export const WITH_KNOWN_USAGE =
  /^(?:summarizations|(?:subAgents\.)?chatHistory\.exchange\.(?:request_nodes|response_nodes\.(?:0|1|5|10)))$/;

// --- internal ---

/** The program's numbers for the kinds of nodes. */
const TEXT = 0;
const TOOL_RESULT = 1;
const TOOL_USE = 5;
const TOKEN_USAGE = 10;

interface Place {
  readonly agentId?: string | undefined;
  readonly promptKey?: string | undefined;
}

class Walk {
  readonly entries: TranscriptEntry[] = [];
  readonly content: ContentUpdate[] = [];
  records = 0;
  readonly #createdMs: number;
  readonly #model: string | undefined;
  #timeMs: number;
  #promptKey: string | undefined;
  /** Call ids by the agent and the id in the file; some providers only count ids, so they repeat. */
  readonly #callIds = new Map<string, string>();
  /** Calls by the request in whose answer they are. */
  readonly #callsOf = new Map<string, string[]>();

  constructor(createdMs: number, model: string | undefined) {
    this.#createdMs = createdMs;
    this.#timeMs = createdMs;
    this.#model = model;
  }

  session(session: Fields, history: readonly Fields[]): void {
    const facts = defined<{ cwd: string; parentSessionId: string }>({
      cwd: history
        .flatMap((state) => objectsIn(asObject(state["exchange"])?.["request_nodes"]))
        .map((node) => folderIn(asObject(node["ide_state_node"])))
        .find((folder) => folder !== undefined),
      parentSessionId: asString(session["parentConversationId"]),
    });
    this.entries.push({ kind: "session", key: "session", timeMs: this.#createdMs, ...facts });
  }

  /** One request and its answer. An exchange that summarises the history is skipped: it is no request. */
  exchange(state: Fields, { agentId }: Place): void {
    const exchange = asObject(state["exchange"]);
    const id = asString(exchange?.["request_id"]);
    if (exchange === undefined || id === undefined || state["isHistorySummary"] === true) return;
    this.records++;
    const requestNodes = objectsIn(exchange["request_nodes"]);
    const responseNodes = objectsIn(exchange["response_nodes"]);
    const times = responseNodes.flatMap((node) => asCount(node["timestamp_ms"]) ?? []);
    const firstMs = times.length === 0 ? undefined : Math.min(...times);
    const endMs = times.length === 0 ? asTimeMs(state["finishedAt"]) : Math.max(...times);
    for (const node of requestNodes) if (node["type"] === TOOL_RESULT) this.#result(node, { agentId });
    this.#timeMs = Math.max(this.#timeMs, firstMs ?? endMs ?? 0);
    if (agentId === undefined) this.#prompt(id, exchange, requestNodes);
    const place: Place = agentId === undefined ? { promptKey: this.#promptKey } : { agentId };
    this.#timeMs = Math.max(this.#timeMs, endMs ?? 0);
    this.#answer(id, exchange, state["completed"] !== false, responseNodes, place);
    for (const node of responseNodes) if (node["type"] === TOOL_USE) this.#use(node, id, place);
  }

  /** A separate request, if this version of the program records it. */
  summary(summary: Fields): void {
    const id = asString(summary["request_id"]);
    if (id === undefined) return;
    const timeMs = asTimeMs(summary["finishedAt"]) ?? this.#timeMs;
    const base = { globalKey: `compaction:${id}`, timeMs };
    this.entries.push({ kind: "compaction", key: `compaction:${id}`, ...base });
    this.#call(id, timeMs, usageOf([summary]), true, asString(summary["model"]), undefined, {});
  }

  /** A subagent, below the call of the answer that started it. It has no id here, so its first request identifies it. */
  subagent(subagent: Fields): void {
    const history = objectsIn(subagent["chatHistory"]);
    const agentId = history.map((state) => asString(asObject(state["exchange"])?.["request_id"])).find(Boolean);
    if (agentId === undefined) return;
    const name = asString(subagent["name"]);
    const calls = this.#callsOf.get(asString(subagent["tool_call_request_id"]) ?? "") ?? [];
    const own = calls.filter((call) => call.startsWith("sub-agent") || (name !== undefined && call.startsWith(name)));
    const candidates = own.length > 0 ? own : calls;
    const startMs = history
      .flatMap((state) => objectsIn(asObject(state["exchange"])?.["response_nodes"]))
      .map((node) => asCount(node["timestamp_ms"]))
      .find((ms) => ms !== undefined);
    this.#timeMs = startMs ?? asTimeMs(subagent["finishedAt"]) ?? this.#timeMs;
    const key = `subagent:${agentId}`;
    this.entries.push(
      defined<EntryOf<"subagent">>({
        kind: "subagent",
        key,
        globalKey: key,
        timeMs: this.#timeMs,
        agentId,
        agentType: name,
        // With several calls in the answer it is not known which one
        parentCallId: candidates.length === 1 ? candidates[0]?.split(" ")[1] : undefined,
      }),
    );
    for (const state of history) this.exchange(state, { agentId });
  }

  #prompt(id: string, exchange: Fields, requestNodes: readonly Fields[]): void {
    const nodes = requestNodes.flatMap((node) =>
      node["type"] === TEXT ? (asString(asObject(node["text_node"])?.["content"]) ?? []) : [],
    );
    const text = asString(exchange["request_message"]) ?? asString(nodes.join(""));
    if (text === undefined) return;
    this.#promptKey = id;
    const key = `prompt:${id}`;
    const entry = { key, globalKey: key, timeMs: this.#timeMs, promptKey: id };
    this.entries.push({ kind: "prompt", ...entry, origin: "human", length: text.length });
    this.content.push(...contentOf(key, "prompt", text));
  }

  #answer(id: string, exchange: Fields, isComplete: boolean, nodes: readonly Fields[], place: Place): void {
    const usage = usageOf(
      nodes.flatMap((node): readonly Fields[] => {
        const part = node["type"] === TOKEN_USAGE ? asObject(node["token_usage"]) : undefined;
        return part === undefined ? [] : [part];
      }),
    );
    const bills = nodes.map((node) => asObject(node["billing_metadata"]));
    const nanoCredits = sumKnown(bills.map((bill) => asNanoUnits(bill?.["credits_consumed"])));
    const billed = bills.map((bill) => bill?.["effective_model_name"]).find(asString);
    const model = asString(billed) ?? asString(exchange["model_id"]) ?? this.#model;
    const provider = nodes.map((node) => asObject(node["metadata"])?.["provider"]).find(asString);
    // A request that failed before its answer began was not billed
    if (nodes.length > 0)
      this.#call(id, this.#timeMs, usage, isComplete, model, provider, place, {
        nanoCredits,
        ...(hasCalls(nodes) && { asksForTools: true }),
      });
    const text = asString(exchange["response_text"]);
    if (text !== undefined) this.content.push(...answerPiece(`call:${id}`, text));
    if (isComplete || place.agentId !== undefined) return;
    this.entries.push(
      defined<EntryOf<"interruption">>({
        kind: "interruption",
        key: `interruption:${id}`,
        timeMs: this.#timeMs,
        promptKey: place.promptKey,
      }),
    );
  }

  #call(
    id: string,
    endMs: number,
    usage: TokenUsage | undefined,
    complete: boolean,
    model: string | undefined,
    provider: unknown,
    place: Place,
    more: { readonly nanoCredits?: number | undefined; readonly asksForTools?: true } = {},
  ): void {
    const key = `call:${id}`;
    this.entries.push(
      defined<EntryOf<"model_call">>({
        kind: "model_call",
        key,
        // Copies of a conversation keep the ids of its requests
        globalKey: key,
        timeMs: endMs,
        ...place,
        requestId: id,
        model,
        provider: providerName(provider),
        endMs,
        usage,
        complete,
        ...more,
      }),
    );
  }

  #use(node: Fields, request: string, place: Place): void {
    const use = asObject(node["tool_use"]);
    const given = asString(use?.["tool_use_id"]);
    const name = asString(use?.["tool_name"]);
    if (use === undefined || given === undefined || name === undefined) return;
    const callId = isRandomId(given) ? given : repeatedCallId(given, request);
    this.#callIds.set(`${place.agentId ?? ""} ${given}`, callId);
    this.#callsOf.set(request, [...(this.#callsOf.get(request) ?? []), `${name} ${callId}`]);
    const input = parsedJson(use["input_json"] ?? use["input"]);
    const key = `use:${callId}`;
    this.entries.push(
      defined<EntryOf<"tool_use">>({
        kind: "tool_use",
        key,
        globalKey: `${key}:${request}`,
        timeMs: asCount(use["started_at_ms"]) ?? this.#timeMs,
        ...place,
        callId,
        name,
        executable: executableOf(asObject(input)?.["command"]),
        mcpServer: asString(use["mcp_server_name"]),
        inputDigest: inputDigest(input),
        files: writesOfCall(EDITORS, name, input),
      }),
    );
    this.content.push(...contentOf(key, "arguments", input));
    this.content.push(...answerPiece(`call:${request}`, toolCallPart(callId, name)));
  }

  /** The result of a call is in the next request. */
  #result(node: Fields, { agentId }: Place): void {
    const result = asObject(node["tool_result_node"]);
    const given = asString(result?.["tool_use_id"]);
    const callId = this.#callIds.get(`${agentId ?? ""} ${given}`);
    if (result === undefined || callId === undefined) return;
    const exitCode = exitCodeIn(result["content"]);
    const [startMs, durationMs] = [asCount(result["start_time_ms"]), asCount(result["duration_ms"])];
    const key = `result:${callId}`;
    const lines = asObject(result["metadata"]);
    this.entries.push(
      defined<EntryOf<"tool_result">>({
        kind: "tool_result",
        key,
        globalKey: undefined,
        timeMs: startMs === undefined ? this.#timeMs : startMs + (durationMs ?? 0),
        ...(agentId === undefined ? { promptKey: this.#promptKey } : { agentId }),
        callId,
        status: result["is_error"] === true || (exitCode !== undefined && exitCode !== 0) ? "error" : "success",
        exitCode,
        durationMs,
        linesAdded: countIn(lines?.["tool_lines_added"]),
        linesRemoved: countIn(lines?.["tool_lines_deleted"]),
      }),
    );
    this.content.push(...contentOf(key, "result", result["content"]));
  }
}

/** Input excludes cache reads and writes. An answer can have several parts of usage, which the program adds. */
function usageOf(parts: readonly Fields[]): TokenUsage | undefined {
  const sum = (name: string): number | undefined => sumKnown(parts.map((part) => asCount(part[name])));
  const [uncached, output] = [sum("input_tokens"), sum("output_tokens")];
  const [cacheRead, cacheWrite] = [sum("cache_read_input_tokens"), sum("cache_creation_input_tokens")];
  // If all figures are zero, nothing was reported
  if (!sumKnown([uncached, output, cacheRead, cacheWrite])) return undefined;
  return defined<TokenUsage>({
    input: withParts(uncached, cacheRead, cacheWrite),
    output,
    cacheRead,
    cacheWrite,
  });
}

const hasCalls = (nodes: readonly Fields[]): boolean => nodes.some((node) => node["type"] === TOOL_USE);

/** Counts of lines are strings. */
const countIn = (value: unknown): number | undefined =>
  typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : asCount(value);

function folderIn(state: Fields | undefined): string | undefined {
  const terminal = asString(asObject(state?.["current_terminal"])?.["current_working_directory"]);
  const [folder] = objectsIn(state?.["workspace_folders"]);
  return asString(folder?.["folder_root"]) ?? asString(folder?.["repository_root"]) ?? terminal;
}
