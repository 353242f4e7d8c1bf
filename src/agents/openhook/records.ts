// What a record of a transcript of unknown origin says, by its shape; rules in docs/openhook.md

import type { TokenUsage } from "#core/model/transcript.ts";
import { sumKnown } from "#kit/numbers.ts";
import { asArray, asCode, asObject, asString, asTimeMs, type Fields } from "../shared/payload/json.ts";
import { feesOf } from "../shared/payload/server-tools.ts";
import { type ToolPart, toolPartsOf } from "./tool-parts.ts";
import { attributesOf, isSame, type ReadUsage, type Shape, usageOf } from "./usage.ts";

/** Usage in a record, or an answer of a model that has none. */
export interface Found {
  /** Where in the record it is: names of lists and numbers of their elements; the same at every reading. */
  readonly place: string;
  /**
   * `answer`: the record shows that it is of one answer. `sum`: it says that it is a running total. `run`: it is the sum over the
   * answers of one run. `counter`: none of these.
   */
  readonly basis: "answer" | "sum" | "run" | "counter";
  readonly shape: Shape | undefined;
  readonly usage: TokenUsage | undefined;
  /** Of the response, from the API. */
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly provider: string | undefined;
  readonly timeMs: number | undefined;
  readonly startMs: number | undefined;
  readonly finishReason: string | undefined;
  /** The running total beside it, if the record has one: an unchanged one shows that no call was added. */
  readonly total: TokenUsage | undefined;
  /** A part of an answer that is being streamed: `next` belongs to the answer before it; `first` and `part` are followed by more. */
  readonly piece: "first" | "next" | "part" | "last" | undefined;
  /** The record ends something: its usage can be that of the answers before it again. */
  readonly isEnd: boolean;
  /** Service tier, if it is not the standard one: no public price applies. */
  readonly tier: string | undefined;
  readonly fees: ReturnType<typeof feesOf>;
  readonly asksForTools: boolean;
}

/** A use of a tool or its result, where the record has it. */
export interface FoundTool extends ToolPart {
  readonly place: string;
  readonly timeMs: number | undefined;
}

interface RecordFacts {
  readonly found: readonly Found[];
  readonly tools: readonly FoundTool[];
}

/** Reads a record: a line, an element of an array, or a whole document. Bounded in depth; never throws. */
export function factsOf(record: Fields): RecordFacts {
  const tools: FoundTool[] = [];
  return { found: visit(record, { place: "", depth: 0, kind: "" }, tools), tools };
}

// --- internal ---

/** What an object inherits from those that contain it. */
interface Around {
  readonly place: string;
  readonly timeMs?: number | undefined;
  readonly model?: string | undefined;
  readonly depth: number;
  /** What the record says that it is. */
  readonly kind: string;
  /** Who wrote the message, and its id if it is an answer. */
  readonly role?: unknown;
  readonly id?: string | undefined;
}

/** Deeper records are nothing that a program writes for others. */
const MAX_DEPTH = 12;

const words = (text: string): ReadonlySet<unknown> => new Set(text.split(/\s+/));

/** Members whose object is the record itself, in another wrapping. Texts and arguments of tools are never searched. */
const WRAPPERS =
  words(`message response data payload event body result chunk value record entry item completion metadata meta info
  session conversation thread transcript chat log state span output generation gen_ai kwargs llm api_response llm_response
  model_response raw_response`);
/** Those of which the usage is of more than one answer. */
const CONVERSATIONS = words("session conversation thread");
/** Members that are lists of records. */
const LISTS =
  words(`messages entries events items records steps turns history conversation conversations thread threads log logs
  lines sessions spans resourceSpans resource_spans scopeSpans scope_spans requests responses calls generations exchanges
  interactions chunks transcript chat data contents rows nodes`);
/** Elements of these lists are of one request each. */
const LISTS_OF_CALLS = words("steps requests responses calls generations");

/** A kind of record that contains one of these words. */
const kindWith = (alternatives: string): RegExp => new RegExp(`(?:^|[^a-z])(?:${alternatives})(?:$|[^a-z])`, "i");
/** Their usage says that it is a sum. */
const SUM_KIND = kindWith("totals?|cumulative|running");
/** Records of one request. */
const CALL_KIND = kindWith("call|request|response|completion|answer|step|generat\\w*|inference|chat|llm|model");
/** Their usage is often a sum: it needs proof. */
const DOUBTFUL_KIND = kindWith(
  "summary|session|conversation|thread|stats|usage|token_?counts?|turn|final|counters?|tool|chat[^a-z](?:result|end|finish|done)",
);
/** Records that end something: a request, if the kind says so. */
const END_KIND = kindWith("result|end|finish|done");

function visit(o: Fields, above: Around, tools: FoundTool[]): readonly Found[] {
  if (above.depth > MAX_DEPTH) return [];
  const kind = [o["type"], o["event"], o["kind"], above.kind, o["name"], o["action"], o["op"]].find(
    (one) => asString(one) !== undefined && one !== "message",
  );
  const attributes = attributesOf(o["attributes"]) ?? o;
  const around: Around = {
    ...above,
    timeMs: timeOf(o) ?? above.timeMs,
    model: modelOf(o) ?? above.model,
    depth: above.depth + 1,
    kind: asString(kind) ?? "",
    role: o["role"] ?? o["author"] ?? o["from"] ?? o["sender"] ?? above.role,
    id: idOf(o, attributes) ?? above.id,
  };
  const { place, timeMs } = around;
  tools.push(...toolPartsOf(o).map((part) => ({ ...part, place, timeMs })), ...spanTool(o, attributes, around));
  const inner: Found[] = [];
  const listed: Found[] = [];
  for (const [name, value] of Object.entries(o)) {
    const object = asObject(value);
    if (object !== undefined && WRAPPERS.has(name)) {
      // A record has one usage of its own, whatever it is wrapped in
      const isKnown = inner.some((one) => one.place === place && hasUsage(one));
      const inside = CONVERSATIONS.has(name) ? { ...around, kind: name, role: undefined, id: undefined } : around;
      const found = visit(object, name === "gen_ai" ? { ...around, kind: "chat" } : inside, tools);
      inner.push(...found.filter((one) => one.place !== place || !isKnown));
    }
    if (!LISTS.has(name)) continue;
    const own = { kind: LISTS_OF_CALLS.has(name) ? "call" : "", role: undefined, id: undefined };
    for (const [at, one] of asArray(value).flat().entries()) {
      const element = asObject(one);
      if (element !== undefined)
        listed.push(...visit(element, { ...around, ...own, place: `${place}/${name}/${at}` }, tools));
    }
  }
  const all = [...inner, ...listed];
  const own = ownUsage(o, attributes, around, inner);
  if (own === undefined) return all;
  // The usage of something that contains answers with usage is theirs, not more. A sum shows whether there was more
  const answers = all.filter((one) => hasUsage(one) && one.basis === "answer");
  if (answers.length > 0 && own.basis === "run")
    return isMore(own, answers) ? [...all, { ...own, basis: "counter" }] : all;
  if (answers.length > 0) return own.basis === "sum" ? [...all, own] : all;
  if (own.basis === "answer") return [own, ...listed.filter(hasUsage)];
  return inner.some((one) => one.place === place && hasUsage(one)) ? all : [...all, own];
}

const hasUsage = ({ usage }: Found): boolean => usage !== undefined;

const isMore = ({ usage }: Found, answers: readonly Found[]): boolean =>
  (["input", "output"] as const).some(
    (kind) => (usage?.[kind] ?? 0) > (sumKnown(answers.map((one) => one.usage?.[kind])) ?? 0),
  );

/** The span of a tool has its start and its end. */
function spanTool(o: Fields, attributes: Fields, { place, timeMs }: Around): readonly FoundTool[] {
  const name = asString(attributes["gen_ai.tool.name"]);
  if (attributes["gen_ai.operation.name"] !== "execute_tool" || name === undefined) return [];
  const code = asObject(o["status"])?.["code"];
  const id = asString(attributes["gen_ai.tool.call.id"] ?? o["spanId"]);
  const part = { id, name, isError: code === 2 || code === "STATUS_CODE_ERROR" || code === "ERROR", place };
  return [
    { ...part, kind: "use", timeMs: instantOf(o["startTimeUnixNano"]) ?? timeMs },
    { ...part, kind: "result", timeMs: instantOf(o["endTimeUnixNano"]) ?? timeMs },
  ];
}

interface NamedUsage extends Partial<ReadUsage> {
  /** What its name says. */
  readonly says?: "sum" | "run" | "answer" | undefined;
  readonly object: Fields;
}

/** The usage that a member has; without figures if its token counts are not those of the known shapes. */
function namedUsage(name: string, object: Fields | undefined, anthropic: Fields | undefined): readonly NamedUsage[] {
  const word = name === "metrics" ? "usage" : name.toLowerCase().replace(/_|token|metadata/g, "");
  const [, before = "", after] = /^([a-z]*)usage(totals?)?$/.exec(word) ?? ["", "-"];
  const says = after !== undefined ? "sum" : saidBy(before);
  if (object === undefined || (says === undefined && before !== "" && before !== "current")) return [];
  const read = usageOf(object, anthropic);
  if (read === undefined && !Object.keys(object).some((one) => /token/i.test(one))) return [];
  // The Vercel AI SDK gives each result the sum over its steps
  return [{ ...read, says: name === "totalUsage" && read?.shape === "vercel-ai-sdk" ? "run" : says, object }];
}
const saidBy = (word: string): "sum" | "answer" | undefined =>
  SUM_NAMES.has(word) ? "sum" : CALL_NAMES.has(word) ? "answer" : undefined;
const SUM_NAMES = words("total cumulative session overall running accumulated");
const CALL_NAMES = words("last step message response request");

/** The usage in an object's own members, or the answer that it is without one. */
function ownUsage(o: Fields, attributes: Fields, around: Around, inner: readonly Found[]): Found | undefined {
  const anthropic = asObject(asObject(o["providerMetadata"])?.["anthropic"]);
  const metadata = asObject(o["response_metadata"]);
  const named = [o, metadata ?? {}].flatMap((one) =>
    Object.entries(one).flatMap(([name, value]) => namedUsage(name, asObject(value), anthropic)),
  );
  const direct = usageOf(o) ?? usageOf(attributes);
  const single: NamedUsage | undefined =
    named.find(({ says, usage }) => says !== "sum" && says !== "run" && usage !== undefined) ??
    (direct && { ...direct, object: o });
  const run = named.find(({ says, usage }) => says === "run" && usage !== undefined);
  const read = run !== undefined && !isSame(run.usage, single?.usage) ? run : (single ?? named[0]);
  const isResponse = isApiResponse(o);
  if (read === undefined && !isResponse) return undefined;
  const response = asObject(o["response"]) ?? asObject(o["message"]) ?? metadata ?? {};
  const id = around.id ?? inner.find((one) => one.id !== undefined)?.id ?? idOf(response, {}, true);
  const model =
    modelOf(attributes) ?? modelOf(response) ?? around.model ?? inner.find((one) => one.model !== undefined)?.model;
  const [choice = {}] = [...asArray(o["choices"]), ...asArray(o["candidates"])].map((one) => asObject(one) ?? {});
  const finishReason = [o, response, choice, asObject(o["delta"]) ?? {}]
    .map((one) => one["stop_reason"] ?? one["finish_reason"] ?? one["finishReason"])
    .find(asString);
  const tier = asString(read?.object["service_tier"] ?? o["service_tier"] ?? o["serviceTier"])?.toLowerCase();
  const basis = read === undefined ? "answer" : basisOf(o, read, around, { attributes, isResponse });
  return {
    place: around.place,
    basis,
    isEnd: isEndOfMore(around.kind) || (run !== undefined && (single === undefined || read === single)),
    shape: read?.shape,
    usage: read?.usage,
    total: named.find(({ says }) => says === "sum")?.usage,
    id,
    model,
    provider: asString(attributes["gen_ai.provider.name"] ?? attributes["gen_ai.system"]),
    timeMs: instantOf(o["endTimeUnixNano"] ?? o["end_time_unix_nano"]) ?? timeOf(response) ?? around.timeMs,
    startMs: instantOf(o["startTimeUnixNano"] ?? o["start_time_unix_nano"]),
    finishReason: asCode(finishReason ?? asArray(attributes["gen_ai.response.finish_reasons"])[0]),
    piece: pieceOf(o, around.kind, finishReason !== undefined, read?.usage !== undefined),
    fees: feesOf(read?.object),
    tier: STANDARD_TIERS.has(tier) ? undefined : asCode(tier),
    asksForTools: [o, response].some((one) => toolPartsOf(one).some((part) => part.kind === "use")),
  };
}

/** Parts of an answer that is being streamed: of the Messages API, chunks of Chat Completions, of Gemini. */
function pieceOf(o: Fields, kind: string, isFinished: boolean, hasUsage: boolean): Found["piece"] {
  if (kind === "message_start") return "first";
  if (kind === "message_delta") return "next";
  if (o["candidates"] !== undefined) return isFinished ? "last" : "part";
  if (asString(o["object"])?.endsWith(".chunk") !== true) return undefined;
  return hasUsage && asArray(o["choices"]).length === 0 ? "last" : "part";
}

const STANDARD_TIERS = words("standard default auto on_demand");

/** An object that an API returns for one request, with or without its usage. */
const isApiResponse = (o: Fields): boolean => {
  const object = asString(o["object"]) ?? "";
  if (/^(?:chat\.completion|text_completion|(?:realtime\.)?response)(?:\.|$)/.test(object)) return true;
  if (o["candidates"] !== undefined && o["responseId"] !== undefined) return true;
  return asString(o["id"]) !== undefined && o["role"] === "assistant" && asString(o["model"]) !== undefined;
};

const ANSWER_ROLES = words("assistant model ai");
const NO_ANSWER_ROLES = words("user human system developer tool");
/** Members that only an answer has. */
const OF_ANSWER =
  words(`choices candidates finish_reason finishReason stop_reason stopReason toolCalls tool_calls responseId
  response_id completion answer reply assistant`);
/** Spans of these operations have the sum over the spans below them. */
const SUM_OPERATIONS = words("invoke_agent create_agent invoke_workflow execute_tool");

function basisOf(
  o: Fields,
  { says, object, shape }: NamedUsage,
  { kind, model, role, id }: Around,
  { attributes, isResponse }: { readonly attributes: Fields; readonly isResponse: boolean },
): Found["basis"] {
  const operation = attributes["gen_ai.operation.name"];
  if (says === "run" || Number(object["requests"]) > 1) return "run";
  if (says === "sum" || SUM_OPERATIONS.has(operation) || SUM_KIND.test(kind)) return "sum";
  if ([o, object].some((one) => one["cumulative"] === true || one["is_cumulative"] === true)) return "sum";
  if (says === "answer" || isResponse || shape === "gen-ai-attributes" || operation !== undefined) return "answer";
  if (kind === "message_delta" || ANSWER_ROLES.has(role)) return "answer";
  if (NO_ANSWER_ROLES.has(role)) return "counter";
  const isAnswer = (one: Fields): boolean =>
    ANSWER_ROLES.has(one["role"]) || Object.keys(one).some((name) => OF_ANSWER.has(name) && one[name] !== undefined);
  const [message, response] = [asObject(o["message"]) ?? {}, asObject(o["response"]) ?? {}];
  if ([o, message, response].some(isAnswer) || asString(response["id"]) !== undefined) return "answer";
  if (ANSWER_ROLES.has(kind) || id !== undefined) return "answer";
  // What contains a conversation has the usage of all of it
  if (Object.keys(o).some((name) => LISTS.has(name) && Array.isArray(o[name]))) return "counter";
  const isCall = CALL_KIND.test(kind) || (model !== undefined && !END_KIND.test(kind));
  return isCall && !DOUBTFUL_KIND.test(kind) ? "answer" : "counter";
}

const isEndOfMore = (kind: string): boolean =>
  (END_KIND.test(kind) && !CALL_KIND.test(kind)) || DOUBTFUL_KIND.test(kind);

/** The API's id of a response. Ids of records are others: only objects that are answers have it as their `id`. */
function idOf(
  o: Fields,
  attributes: Fields,
  isAnswer = isApiResponse(o) || ANSWER_ROLES.has(o["role"]) || o["type"] === "ai",
): string | undefined {
  const given =
    attributes["gen_ai.response.id"] ??
    (attributes["gen_ai.operation.name"] === undefined ? undefined : (o["spanId"] ?? o["span_id"])) ??
    o["response_id"] ??
    o["responseId"] ??
    (isAnswer || o["choices"] !== undefined ? o["id"] : undefined);
  return typeof given === "number" ? String(given) : asString(given);
}

const MODELS = ["model", "modelId", "model_id", "modelVersion", "model_version", "model_name", "modelName"];

const modelOf = (o: Fields): string | undefined =>
  asString(o["gen_ai.response.model"] ?? o["gen_ai.request.model"]) ??
  MODELS.map((name) => o[name])
    .map((model) => asString(model) ?? asString(asObject(model)?.["id"]))
    .find((model) => model !== undefined);

const TIMES =
  `timestamp time ts created_at createdAt created date at time_ms timestamp_ms timestampMs completed_at endTime
  end_time startTime start_time timeUnixNano`.split(/\s+/);

const timeOf = (o: Fields): number | undefined =>
  TIMES.map((name) => instantOf(o[name])).find((ms) => ms !== undefined);

/** Milliseconds since the epoch, from a text or a number of seconds or smaller units. A text without zone is UTC. */
function instantOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{9,19}(?:\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof number === "number") {
    const ms = [1e3, 1, 1e-3, 1e-6].map((unit) => number * unit).find((one) => one >= EARLIEST_MS && one < LATEST_MS);
    return ms === undefined ? undefined : Math.round(ms);
  }
  // Seconds and nanoseconds
  if (Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger))
    return instantOf(value[0] + value[1] / 1e9);
  if (typeof number !== "string" || number.length > 40) return undefined;
  const isZoned = /(?:Z|[+-]\d\d:?\d\d)$/i.test(number) || !/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(number);
  const ms = asTimeMs(isZoned ? number : `${number}Z`);
  return ms !== undefined && ms >= EARLIEST_MS && ms < LATEST_MS ? ms : undefined;
}
const EARLIEST_MS = Date.UTC(2015, 0);
const LATEST_MS = Date.UTC(2100, 0);
