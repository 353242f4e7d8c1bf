// What a record of a transcript of unknown origin says, by its shape; rules in docs/openhook.md

import type { TokenUsage } from "../../model/transcript.ts";
import { asArray, asCode, asObject, asString, asTimeMs } from "../shared/payload/json.ts";
import { feesOf } from "../shared/payload/server-tools.ts";
import { type ToolPart, toolPartsOf } from "./tool-parts.ts";
import { attributesOf, type Fields, type Shape, usageOf } from "./usage.ts";

/** Usage in a record, or an answer of a model that has none. */
export interface Found {
  /** Where in the record it is: names of lists and numbers of their elements; the same at every reading. */
  readonly place: string;
  /**
   * `answer`: the record shows that it is of one answer. `sum`: it says that it is a running total. `counter`: neither.
   */
  readonly basis: "answer" | "sum" | "counter";
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
  /** Not the standard tier, so no public price applies. */
  readonly isOtherTier: boolean;
  readonly fees: ReturnType<typeof feesOf>;
  readonly asksForTools: boolean;
}

/** A use of a tool or its result, where the record has it. */
export interface FoundTool extends ToolPart {
  readonly place: string;
  readonly timeMs: number | undefined;
}

export interface RecordFacts {
  readonly found: readonly Found[];
  readonly tools: readonly FoundTool[];
}

/** Reads a record: a line, an element of an array, or a whole document. Bounded in depth; never throws. */
export function factsOf(record: Fields): RecordFacts {
  const tools: FoundTool[] = [];
  const found = visit(
    record,
    { place: "", timeMs: undefined, model: undefined, depth: 0, kind: "", role: undefined, id: undefined },
    tools,
  );
  return { found, tools };
}

// --- internal ---

/** What an object inherits from those that contain it. */
interface Around {
  readonly place: string;
  readonly timeMs: number | undefined;
  readonly model: string | undefined;
  readonly depth: number;
  /** What the record says that it is. */
  readonly kind: string;
  /** Who wrote the message, and its id if it is an answer. */
  readonly role: unknown;
  readonly id: string | undefined;
}

/** Deeper records are nothing that a program writes for others. */
const MAX_DEPTH = 12;

/** Members whose object is the record itself, in another wrapping. Texts and arguments of tools are never searched. */
const WRAPPERS =
  `message response data payload event body result chunk value record entry item completion metadata info session
  conversation thread transcript chat log state span output generation gen_ai`.split(/\s+/);
/** Members that are lists of records. */
const LISTS =
  `messages entries events items records steps turns history conversation conversations thread threads log logs lines
  sessions spans resourceSpans resource_spans scopeSpans scope_spans requests responses calls generations exchanges interactions
  chunks transcript chat data contents rows nodes`.split(/\s+/);
const USAGE = /^(?:(?:last|current|step|message|response|request)_?)?(?:token_?)?usage(?:_?meta_?data)?$/i;
const OF_ONE_CALL = /^(?:last|step|message|response|request)_?(?:token_?)?usage/i;
const OF_ALL =
  /^(?:total|cumulative|session|overall|running|accumulated)_?(?:token_?)?usage$|^(?:token_?)?usage_?totals?$/i;
/** Kinds of records whose usage says that it is a sum. */
const SUM_KIND = /(?:^|[^a-z])(?:total|totals|cumulative|running)(?:$|[^a-z])/i;
/** Kinds of records of one request. */
const CALL_KIND =
  /(?:^|[^a-z])(?:call|request|response|completion|answer|step|generat\w*|inference|chat|llm|model)(?:$|[^a-z])/i;
/** Kinds of records whose usage is often a sum: it needs proof. */
const DOUBTFUL_KIND =
  /(?:^|[^a-z])(?:result|summary|session|stats|usage|token_?counts?|turn|end|final|done|counters?)(?:$|[^a-z])/i;

function visit(o: Fields, above: Around, tools: FoundTool[]): readonly Found[] {
  if (above.depth > MAX_DEPTH) return [];
  const kind = [o["type"], o["event"], o["kind"], above.kind || undefined, o["name"], o["action"], o["op"]].find(
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
  for (const part of toolPartsOf(o)) tools.push({ ...part, place: above.place, timeMs: around.timeMs });
  if (attributes["gen_ai.operation.name"] === "execute_tool") tools.push(...spanTool(o, attributes, around));
  const inner: Found[] = [];
  const listed: Found[] = [];
  for (const [name, value] of Object.entries(o)) {
    if (Array.isArray(value) && LISTS.includes(name)) {
      for (const [at, one] of value.entries()) {
        const element = asObject(one);
        const place = `${above.place}/${name}/${at}`;
        const own = { place, kind: "", role: undefined, id: undefined };
        if (element !== undefined) listed.push(...visit(element, { ...around, ...own }, tools));
      }
    } else if (WRAPPERS.includes(name)) {
      const object = asObject(value);
      const inside = name === "gen_ai" ? { ...around, kind: "chat" } : around;
      const found = object === undefined ? [] : visit(object, inside, tools);
      // A record has one usage of its own, whatever it is wrapped in
      const isKnown = inner.some((one) => one.place === around.place && one.usage !== undefined);
      inner.push(...found.filter(({ place }) => place !== around.place || !isKnown));
    }
  }
  const own = ownUsage(o, attributes, around, inner);
  const isWrapped = inner.some(({ place, usage }) => place === around.place && usage !== undefined);
  // The usage of something that contains answers with usage is theirs, not more
  if (own === undefined || [...inner, ...listed].some(({ usage, basis }) => usage !== undefined && basis === "answer"))
    return [...inner, ...listed];
  if (own.basis === "answer") return [own, ...listed.filter(hasUsage)];
  return isWrapped ? [...inner, ...listed] : [...inner, ...listed, own];
}

const hasUsage = ({ usage }: Found): boolean => usage !== undefined;

/** The span of a tool has its start and its end. */
function spanTool(o: Fields, attributes: Fields, { place, timeMs }: Around): readonly FoundTool[] {
  const [id, name] = [asString(attributes["gen_ai.tool.call.id"]), asString(attributes["gen_ai.tool.name"])];
  const code = asObject(o["status"])?.["code"];
  const part = {
    id: id ?? asString(o["spanId"]),
    name,
    isError: code === 2 || code === "STATUS_CODE_ERROR" || code === "ERROR",
    place,
  };
  const endMs = instantOf(o["endTimeUnixNano"]) ?? timeMs;
  if (name === undefined) return [];
  const startMs = instantOf(o["startTimeUnixNano"]) ?? timeMs;
  return [
    { ...part, kind: "use", timeMs: startMs },
    { ...part, kind: "result", timeMs: endMs },
  ];
}

interface NamedUsage {
  /** Absent: it has other token counts than those of the known shapes. */
  readonly shape?: Shape;
  readonly usage?: TokenUsage;
  /** Its name says that it is a running total, or that it is of one call. */
  readonly isSum: boolean;
  readonly isOne: boolean;
  readonly object: Fields;
}

/** The usage in an object's own members, or the answer that it is without one. */
function ownUsage(o: Fields, attributes: Fields, around: Around, inner: readonly Found[]): Found | undefined {
  const anthropic = asObject(asObject(o["providerMetadata"])?.["anthropic"]);
  const named = Object.entries(o).flatMap(([name, value]): readonly NamedUsage[] => {
    const object = asObject(value);
    const isSum = OF_ALL.test(name);
    const read =
      object === undefined || !(isSum || USAGE.test(name))
        ? undefined
        : (usageOf(object, anthropic) ?? (Object.keys(object).some((one) => /token/i.test(one)) ? {} : undefined));
    return read === undefined || object === undefined
      ? []
      : [{ ...read, isSum, isOne: OF_ONE_CALL.test(name), object }];
  });
  const direct = usageOf(o) ?? usageOf(attributes);
  const read =
    named.find(({ isSum, usage }) => !isSum && usage !== undefined) ??
    (direct && { ...direct, isSum: false, isOne: false, object: o }) ??
    named[0];
  const isResponse = isApiResponse(o);
  if (read === undefined && !isResponse) return undefined;
  const response = asObject(o["response"]) ?? asObject(o["message"]) ?? asObject(o["response_metadata"]) ?? {};
  const [choice] = [...asArray(o["choices"]), ...asArray(o["candidates"])].map((one) => asObject(one) ?? {});
  const finish = [o, response, choice ?? {}, asObject(o["delta"]) ?? {}];
  const finishReason = finish
    .map((one) => one["stop_reason"] ?? one["finish_reason"] ?? one["finishReason"])
    .find(asString);
  const tier = asString(read?.object["service_tier"] ?? o["service_tier"] ?? o["serviceTier"]);
  const reasons = asArray(attributes["gen_ai.response.finish_reasons"]);
  return {
    place: around.place,
    basis: read === undefined ? "answer" : basisOf(o, read, around, { attributes, isResponse }),
    shape: read?.shape,
    usage: read?.usage,
    total: named.find(({ isSum }) => isSum)?.usage,
    id: around.id ?? inner.find(({ id }) => id !== undefined)?.id ?? idOf(response, {}, true),
    model:
      modelOf(attributes) ?? modelOf(response) ?? around.model ?? inner.find(({ model }) => model !== undefined)?.model,
    provider: asString(attributes["gen_ai.provider.name"] ?? attributes["gen_ai.system"]),
    timeMs: instantOf(o["endTimeUnixNano"] ?? o["end_time_unix_nano"]) ?? timeOf(response) ?? around.timeMs,
    startMs: instantOf(o["startTimeUnixNano"] ?? o["start_time_unix_nano"]),
    finishReason: asCode(finishReason ?? reasons[0]),
    piece: pieceOf(o, around.kind, finishReason !== undefined, read?.usage !== undefined),
    fees: feesOf(read?.object),
    isOtherTier: tier !== undefined && !STANDARD_TIERS.has(tier.toLowerCase()),
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

const STANDARD_TIERS: ReadonlySet<string> = new Set(["standard", "default", "auto", "on_demand"]);

/** An object that an API returns for one request, with or without its usage. */
const isApiResponse = (o: Fields): boolean => {
  const object = asString(o["object"]) ?? "";
  if (/^(?:chat\.completion|text_completion|response)(?:\.|$)/.test(object)) return true;
  if (o["candidates"] !== undefined && o["responseId"] !== undefined) return true;
  return asString(o["id"]) !== undefined && o["role"] === "assistant" && asString(o["model"]) !== undefined;
};

const ANSWER_ROLES: ReadonlySet<unknown> = new Set(["assistant", "model", "ai"]);
const NO_ANSWER_ROLES: ReadonlySet<unknown> = new Set(["user", "human", "system", "developer", "tool"]);
/** Members that only an answer has. */
const OF_ANSWER = `choices candidates finish_reason finishReason stop_reason stopReason toolCalls tool_calls responseId
  response_id completion answer reply assistant`.split(/\s+/);
/** Spans of these operations have the sum over the spans below them. */
const SUM_OPERATIONS: ReadonlySet<unknown> = new Set([
  "invoke_agent",
  "create_agent",
  "invoke_workflow",
  "execute_tool",
]);

function basisOf(
  o: Fields,
  { isSum, isOne, object, shape }: NamedUsage,
  { kind, model, role, id }: Around,
  { attributes, isResponse }: { readonly attributes: Fields; readonly isResponse: boolean },
): Found["basis"] {
  if (isSum || SUM_OPERATIONS.has(attributes["gen_ai.operation.name"]) || SUM_KIND.test(kind)) return "sum";
  if ([o, object].some((one) => one["cumulative"] === true || one["is_cumulative"] === true)) return "sum";
  if (
    isOne ||
    isResponse ||
    shape === "gen-ai-attributes" ||
    kind === "message_delta" ||
    attributes["gen_ai.operation.name"] !== undefined
  )
    return "answer";
  if (ANSWER_ROLES.has(role)) return "answer";
  if (NO_ANSWER_ROLES.has(role)) return "counter";
  const places = [o, asObject(o["message"]) ?? {}, asObject(o["response"]) ?? {}];
  if (places.some((one) => ANSWER_ROLES.has(one["role"]) || OF_ANSWER.some((name) => one[name] !== undefined)))
    return "answer";
  if (ANSWER_ROLES.has(kind) || id !== undefined) return "answer";
  // What contains a conversation has the usage of all of it
  if (LISTS.some((name) => Array.isArray(o[name]))) return "counter";
  return !DOUBTFUL_KIND.test(kind) && (model !== undefined || CALL_KIND.test(kind)) ? "answer" : "counter";
}

/** The API's id of a response. Ids of records are others: only objects that are answers have it as their `id`. */
function idOf(
  o: Fields,
  attributes: Fields,
  isAnswer = isApiResponse(o) || ANSWER_ROLES.has(o["role"]),
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
