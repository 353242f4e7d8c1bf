import { defined } from "../../model/defined.ts";
import { TOKEN_KINDS } from "../../model/token-kinds.ts";
import type { EntryOf, TokenUsage, ToolStatus, TranscriptEntry } from "../../model/transcript.ts";
import { executableOf } from "../shared/names/executables.ts";
import { isBareCount, isCountedId, laterId } from "../shared/payload/call-ids.ts";
import { inputDigest } from "../shared/payload/digest.ts";
import { asArray, asCode, asCount, asObject, asString, asTimeMs, ownOf, parsedObject } from "../shared/payload/json.ts";
import { compareVersions, parseVersion } from "../shared/payload/version.ts";
import type { JsonLine } from "../shared/transcript/jsonl.ts";
import { isCut } from "../shared/transcript/shorten.ts";
import { exitCodeOf } from "./adapter.ts";
import { isOfMachine } from "./machine.ts";
import { type NamelessAnswer, nameAnswer } from "./nameless.ts";
import { patchLines } from "./patch.ts";

/** What a line can mean depends on the lines before it. Plain JSON: it is kept between two drains. */
export interface LineState {
  /** Time of the last line that had one; for those that have none. */
  readonly timeMs: number;
  /** Key of the prompt whose turn we are in. */
  readonly promptKey?: string;
  /** When the model was last given something to answer. */
  readonly inputMs?: number;
  /** When requests left, by the id that their answers refer to. */
  readonly requests?: Readonly<Record<string, number>>;
  /** What was last told of the session, so that it is told once. */
  readonly facts?: string;
  /** The last result of a call that launched a command or a skill. */
  readonly launched?: string;
  /** The last calls whose ids somebody counts; a result names the last one of its id. */
  readonly counted?: readonly CountedCall[];
  /** The last answers that a server gave no ids. */
  readonly nameless?: readonly NamelessAnswer[];
  /** The last answer that had figures of its own. */
  readonly answer?: ToldAnswer;
}

interface CountedCall {
  readonly given: string;
  readonly callId: string;
  readonly agentId?: string;
}

/** What a line told of an answer that has an id and a request. */
export interface ToldAnswer {
  readonly id: string;
  readonly requestId: string;
  /** Absent where nobody counted anything. */
  readonly usage?: TokenUsage;
}

/** What is kept between two readings of a file. */
export interface Memo {
  readonly state: LineState;
  readonly fingerprint: string;
}

/** What a line told, and the state behind it. */
export interface LineResult {
  readonly entries: readonly TranscriptEntry[];
  readonly state: LineState;
}

/**
 * One transcript line → its entries.
 *
 * @returns `undefined` when the line is no JSON object; no entries for kinds of lines that tell us nothing
 */
export function readLine(line: JsonLine, state: LineState, agentId: string | undefined): LineResult | undefined {
  if (line.isCut) {
    // Most bytes of a transcript are outputs and files, in long strings that tell us nothing
    const o = parsedLine(line.text());
    if (o === undefined) return undefined;
    const result = needsWhole(o) ? undefined : read(o, line, state, agentId);
    if (result?.entries.every(isWhole) === true) return result;
  }
  const o = parsedLine(line.isCut ? line.bytes : line.text());
  return o === undefined ? undefined : read(o, line, state, agentId);
}

/** A line's JSON object. After a crash of the machine zeros can stand before it, where the file had grown already. */
export function parsedLine(text: string | Buffer): Line | undefined {
  const isPadded = text[0] === "\0" || text[0] === 0;
  return parsedObject(isPadded ? text.toString().replace(/^\0+/, "") : text);
}

/** What a line says of its session. */
export interface ToldOfSession {
  readonly agentVersion: string | undefined;
  readonly cwd: string | undefined;
  readonly gitBranch: string | undefined;
}

/**
 * The entry of what a line says of its session, where no line has said it before.
 *
 * @param known what was said last; what must be remembered is whether it changed, not what it is
 */
export function sessionEntry(
  told: ToldOfSession,
  timeMs: number,
  promptKey: string | undefined,
  known: string | undefined,
): { readonly entry?: EntryOf<"session">; readonly digest: string } {
  const facts = defined<Omit<EntryOf<"session">, "kind" | "key" | "timeMs">>(told);
  const digest = digestOfFacts(facts);
  if (digest === known) return { digest };
  const at = defined<Pick<EntryOf<"session">, "timeMs" | "promptKey">>({ timeMs, promptKey });
  return { entry: { kind: "session", key: `session:${digest}`, ...at, ...facts }, digest };
}

// --- internal ---

/** They hardly ever change from line to line, and are those of a few folders. */
const digested = new Map<string, string>();
const MAX_DIGESTED = 256;

function digestOfFacts(facts: Partial<ToldOfSession>): string {
  // A folder named undefined is not one that nobody told
  const text = JSON.stringify([facts.agentVersion, facts.cwd, facts.gitBranch]);
  const known = digested.get(text);
  if (known !== undefined) return known;
  const digest = inputDigest(facts) ?? "{}";
  if (digested.size >= MAX_DIGESTED) digested.clear();
  digested.set(text, digest);
  return digest;
}

function read(o: Line, line: JsonLine, state: LineState, agentId: string | undefined): LineResult {
  const timeMs = asTimeMs(o["timestamp"]) ?? state.timeMs;
  const sidechain = agentId ?? sidechainOf(o);
  const here: Here = { o, line, timeMs, state: { ...state, timeMs }, agentId: sidechain };
  const result = readKind(here, state);
  if (originalOf(o) === undefined) return result;
  return { ...result, entries: result.entries.filter(({ kind }) => !KNOWN_BY_LINE.has(kind)) };
}

/**
 * The line that this one is a copy of: the Agent SDK's `forkSession` gives its copies new ids. Of a fork's fork that is again a
 * copy, which nobody knows by that id; what has no id of its own but its line's stands in the session that it is from.
 */
function originalOf(o: Line): string | undefined {
  const original = asString(asObject(o["forkedFrom"])?.["messageUuid"]);
  return original === o["uuid"] ? undefined : original;
}
const KNOWN_BY_LINE: ReadonlySet<TranscriptEntry["kind"]> = new Set([
  "interruption",
  "model_error",
  "compaction",
  "turn_end",
]);

function readKind(here: Here, state: LineState): LineResult {
  const { o } = here;
  switch (o["type"]) {
    case "user":
      return userLine(here);
    case "assistant":
      return assistantLine(here);
    case "system":
      return { entries: systemLine(here), state: here.state };
    case "attachment":
      return { entries: structuredOutput(here), state };
    case "api-request":
      return { entries: [], state: rememberRequest(here) };
    case "cost-state":
      return { entries: reportedUsage(here), state };
    default:
      return { entries: [], state };
  }
}

type Line = Readonly<Record<string, unknown>>;

interface Here {
  readonly o: Line;
  readonly line: JsonLine;
  readonly timeMs: number;
  readonly state: LineState;
  readonly agentId: string | undefined;
}

/** Before subagents had files of their own their lines stood in the main one; those have no id to tell two apart. */
const sidechainOf = (o: Line): string | undefined =>
  o["isSidechain"] === true ? (asString(o["agentId"]) ?? "sidechain") : undefined;

/** Whether something that counts can be behind the beginning of a long string: a length, an outcome, an edit, a command. */
function needsWhole(o: Line): boolean {
  const content = asObject(o["message"])?.["content"];
  switch (o["type"]) {
    case "user": {
      const blocks = asArray(content).map(asObject);
      const results = blocks.filter((block) => block?.["type"] === "tool_result");
      const outcome = o["toolUseResult"];
      return (
        results.length === 0 ||
        results.some((block) => block?.["is_error"] === true) ||
        typeof outcome === "string" ||
        Array.isArray(asObject(outcome)?.["structuredPatch"])
      );
    }
    case "assistant":
      return asArray(content).some((block) => {
        const input = asObject(asObject(block)?.["input"]);
        const command = input?.["command"];
        return (typeof command === "string" && isCut(command)) || (input !== undefined && hooksTellNoCallId(o));
      });
    case "api-request":
      return typeof o["id"] === "string" && isCut(o["id"]);
    case "cost-state":
      return true;
    default:
      return false;
  }
}

/** No name or id of it was cut. */
function isWhole(entry: TranscriptEntry): boolean {
  const members = entry as unknown as Line;
  for (const name in members) {
    const value = members[name];
    if (typeof value === "string" && isCut(value)) return false;
  }
  return true;
}

/** The fields that every entry has. */
function at(here: Here, key: string, globalKey?: string) {
  return defined<{ key: string; timeMs: number; globalKey: string; promptKey: string; agentId: string }>({
    key,
    timeMs: here.timeMs,
    globalKey,
    promptKey: here.state.promptKey,
    agentId: here.agentId,
  });
}

/** The same of what no agent's id is told of: a fork copies the line with its own. */
function atLine(here: Here, kind: string) {
  const key = `${kind}:${lineId(here)}`;
  return at(here, key, key);
}

// --- user lines: prompts, tool results, interruptions ---

function userLine(here: Here) {
  const { o } = here;
  const content = asObject(o["message"])?.["content"];
  const results = asArray(content).filter((block) => asObject(block)?.["type"] === "tool_result");
  if (results.length > 0) return toolResults(here, results);

  const text = textOf(content);
  const facts = sessionFacts(here);
  if (o["interruptedMessageId"] !== undefined || text?.startsWith("[Request interrupted by user") === true) {
    const entry: TranscriptEntry = { kind: "interruption", ...atLine(here, "interruption") };
    return { entries: [...facts.entries, entry], state: facts.state };
  }
  const inputMs = here.timeMs;
  if (here.agentId !== undefined || isCompanion(o, text, here.state)) {
    return { entries: facts.entries, state: { ...facts.state, inputMs } };
  }
  const promptKey = promptIdOf(o, text) ?? lineId(here);
  const state = { ...facts.state, promptKey, inputMs };
  const prompt = defined<EntryOf<"prompt">>({
    kind: "prompt",
    // A fork gives its own prompt id to the lines it copies; the line's id stays what it was
    ...atLine({ ...here, state }, "prompt"),
    // A copy, too, is a turn only where the answers to it are not known from elsewhere
    origin: originalOf(o) === undefined ? originOf(o, text) : "command",
    length: isOfShell(text) ? undefined : typedText(text)?.length,
  } as EntryOf<"prompt">);
  return { entries: [...facts.entries, prompt], state };
}

/** At the latest: 2.1.80 and 2.1.100 were seen to give a command the id of the prompt before it. Hooks tell no ids there. */
const COMMANDS_HAVE_IDS_SINCE = "2.1.120";

const promptIdOf = (o: Line, text: string | undefined): string | undefined =>
  text?.startsWith("<command-") === true && (compareToVersion(o, COMMANDS_HAVE_IDS_SINCE) ?? 0) < 0
    ? undefined
    : asString(o["promptId"]);

/** Lines in a user's name that the agent wrote for itself. */
function isCompanion(o: Line, text: string | undefined, { promptKey, launched }: LineState): boolean {
  return (
    (o["isMeta"] === true && !isFromElsewhere(o, promptKey)) ||
    o["isCompactSummary"] === true ||
    o["isVisibleInTranscriptOnly"] === true ||
    o["repeatsCompactSummary"] === true ||
    /^<(?:local-command-|user-memory-input>)/.test(text ?? "") ||
    (isOfShell(text) && o["turnOrigin"] === undefined) ||
    // Before 2.0.77 a command that the model called for, and not the user, was written as if typed
    (TYPED.test(text ?? "") && (o["sourceToolUseID"] !== undefined || isChildOf(o, launched)))
  );
}

const isChildOf = (o: Line, uuid: string | undefined): boolean => uuid !== undefined && o["parentUuid"] === uuid;

/** What another session, an agent or a schedule sent, with a prompt id of its own: a turn begins, and hooks told it. */
function isFromElsewhere(o: Line, promptKey: string | undefined): boolean {
  const kind = asString(asObject(o["origin"])?.["kind"]);
  const id = asString(o["promptId"]);
  return kind !== undefined && kind !== "human" && id !== undefined && id !== promptKey;
}

/**
 * A command that the user ran (`!git status`) and, in a line of its own, what it printed. Since 2.1.329 at the latest the model
 * is asked about that, without a hook for a prompt; the line that it is asked with says whose turn it begins.
 */
const isOfShell = (text: string | undefined): boolean => /^<bash-(?:input|stdout|stderr)>/.test(text ?? "");

/** Nobody's own words: those of a channel are somebody's. */
const MACHINES: ReadonlySet<string> = new Set([
  "task-notification",
  "peer",
  "peer-send-message",
  "projects-relay",
  "teammate",
  "coordinator",
  "observer",
  "observer-activity",
  "auto-continuation",
  "scheduled-trigger",
]);

function originOf(o: Line, text: string | undefined): "human" | "machine" | "command" {
  const kind = asString(asObject(o["origin"])?.["kind"]) ?? "";
  if (MACHINES.has(kind) || o["promptSource"] === "system" || isOfMachine(text)) return "machine";
  // `/clear` and its like are written with the name first and never reach the model; they have no turn
  return /^<command-(?!message>)/.test(text ?? "") && o["turnOrigin"] === undefined ? "command" : "human";
}

/**
 * A command that reaches the model is a prompt like any other. It is written with its message first, and hooks are told it as it
 * was typed. Of a skill 2.0.77 writes neither the slash nor what else was typed.
 */
function typedText(text: string | undefined): string | undefined {
  const [isTyped, name, args = ""] = TYPED.exec(text ?? "") ?? [];
  if (isTyped === undefined) return text;
  if (name?.startsWith("/") !== true) return undefined;
  return args === "" ? name : `${name} ${args}`;
}
const TYPED =
  /^<command-message>[^<]*<\/command-message>\s*<command-name>([^<]*)<\/command-name>(?:\s*<command-args>(.*)<\/command-args>)?/s;

function textOf(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  const texts = asArray(content).flatMap((block) => asString(asObject(block)?.["text"]) ?? []);
  return texts.length > 0 ? texts.join("\n") : undefined;
}

function toolResults(here: Here, blocks: readonly unknown[]) {
  const { o } = here;
  const result = asObject(o["toolUseResult"]);
  const patch = patchLines(result);
  const entries = blocks.flatMap((block): TranscriptEntry[] => {
    const b = asObject(block) ?? {};
    const given = asString(b["tool_use_id"]);
    if (given === undefined) return [];
    const callId = here.state.counted?.findLast((call) => isCallOf(call, given, here.agentId))?.callId ?? given;
    const text = textOf(b["content"]) ?? asString(o["toolUseResult"]) ?? "";
    const status = statusOf(o, b, text);
    return [
      defined<EntryOf<"tool_result">>({
        kind: "tool_result",
        ...at(here, `result:${callId}`, `result:${placeOf(given, lineId(here))}`),
        callId,
        status,
        errorType: status === "error" && isInterrupted(o, text) ? "interrupted" : undefined,
        exitCode: status === "error" ? (exitCodeOf(text) ?? exitCodeOf(o["toolUseResult"])) : undefined,
        linesAdded: patch.lines_added,
        linesRemoved: patch.lines_removed,
        spawnedAgentId: asString(result?.["agentId"]),
        durationMs: undefined,
      } as EntryOf<"tool_result">),
    ];
  });
  const facts = sessionFacts(here);
  const state = { ...facts.state, inputMs: here.timeMs };
  const uuid = asString(o["uuid"]);
  const hasLaunched = uuid !== undefined && result?.["commandName"] !== undefined;
  return { entries: [...facts.entries, ...entries], state: hasLaunched ? { ...state, launched: uuid } : state };
}

const isInterrupted = (o: Line, text: string): boolean =>
  asObject(o["toolUseResult"])?.["interrupted"] === true ||
  isBrokenOffAtWork(o) ||
  text.startsWith("[Request interrupted by user") ||
  // Of calls that were asked for at once one failed: the others do not run
  /^<tool_use_error>(?:Cancelled: parallel tool call |Sibling tool call errored)/.test(text);

/**
 * Stopped by the user or for another call's sake. Since 2.1.329 at the latest a call that is stopped while it runs is told as
 * rejected, too; one that the user was asked about has the decision, or says that it had not begun.
 */
function isBrokenOffAtWork(o: Line): boolean {
  const kind = o["toolDenialKind"];
  if (kind !== "user-rejected") return kind === "interrupted" || kind === "cancelled";
  const isTold = o["permissionDecision"] !== undefined || o["toolDenialBeforeRun"] === true;
  return !isTold && (compareToVersion(o, DECISIONS_SINCE) ?? -1) >= 0;
}
const DECISIONS_SINCE = "2.1.329";

function statusOf(o: Line, block: Line, text: string): ToolStatus {
  // Written for a call that a killed process left behind; nobody knows how it ended
  if (/^\[Tool (?:use|call) interrupted/.test(text)) return "unfinished";
  if (isBrokenOffAtWork(o)) return "error";
  if (asObject(o["permissionDecision"])?.["decision"] === "reject" || o["toolDenialKind"] !== undefined)
    return "denied";
  if (block["is_error"] !== true) return "success";
  // In older versions, and of files that a rule denies in all but the newest, only the wording tells a refusal from a failure
  return REFUSALS.some((wording) => wording.test(text)) ? "denied" : "error";
}

/** How the agent words them, from 1.0 on. A directory's name comes before what it says of it. */
const REFUSALS: readonly RegExp[] = [
  /^(?:Permission (?:to \w+|for this) |The user doesn't want to |Claude requested permissions |\S+ hook error: )/,
  /^<tool_use_error>File is in a directory that is denied by /,
  /^(?:Hook \S+ denied this tool|\S+ operation blocked by hook)/,
  /^This (?:command requires|\w+ command contains multiple operations\. The following parts? requires?) approval/,
  /^Agent type '[^'\n]{1,200}' has been denied by permission rule /,
  /^[^\n]{1,500} was blocked\. For security, Claude Code may /,
];

// --- assistant lines: one per content block, each with the whole usage ---

function assistantLine(here: Here) {
  const { o } = here;
  const message = asObject(o["message"]);
  if (message === undefined) return { entries: [], state: here.state };
  const facts = sessionFacts(here);
  const model = asString(message["model"]);
  if (model === "<synthetic>") return { entries: [...facts.entries, ...modelError(here)], state: facts.state };

  const requestId = asString(o["requestId"]);
  const told = asString(message["id"]);
  const id = told !== undefined && isMadeUp(told, o) ? undefined : told;
  const { globalKey, within, state } =
    id !== undefined && (requestId !== undefined || isOfOneAnswer(id))
      ? {
          globalKey: `response:${id}:${requestId ?? ""}`,
          within: isOfOneAnswer(id) ? id : `${id}:${requestId}`,
          state: facts.state,
        }
      : namelessAnswer(here, id, facts.state);
  const used = usageOf(asObject(message["usage"]));
  const answer = toldAnswer(id, requestId, used);
  const isAgain = repeats(here.state.answer, answer);
  const finishReason = asString(message["stop_reason"]);
  const requested = ownOf(here.state.requests ?? {}, asString(o["requestRef"]));
  const call = defined<EntryOf<"model_call">>({
    kind: "model_call",
    ...at(here, globalKey, globalKey),
    responseId: id,
    requestId,
    model,
    requestedModel: asString(o["requestedModel"]),
    startMs: requested ?? here.state.inputMs,
    endMs: here.timeMs,
    usage: isAgain ? undefined : used,
    complete: finishReason !== undefined && !isBrokenOff(o, message),
    finishReason,
    asksForTools: finishReason === "tool_use" ? true : undefined,
    // Several times as dear, and the price table knows nothing of it
    noListPrice: asObject(message["usage"])?.["speed"] === "fast" ? true : undefined,
  } as EntryOf<"model_call">);
  const beside = passesBeside(asObject(message["usage"])).map(({ place, ...pass }): TranscriptEntry => {
    const key = `${globalKey}:${place}`;
    const { startMs, endMs, complete, asksForTools } = call;
    const told = { requestId, model, startMs, endMs, complete, asksForTools, ...pass };
    return defined<EntryOf<"model_call">>({
      kind: "model_call",
      ...at(here, key, key),
      besideResponseId: id,
      ...told,
    } as EntryOf<"model_call">);
  });
  const isJoinedByInput = hooksTellNoCallId(o);
  const counted: CountedCall[] = [];
  const uses = asArray(message["content"]).flatMap((block): TranscriptEntry[] => {
    const b = asObject(block) ?? {};
    const given = asString(b["id"]);
    const name = asString(b["name"]);
    if (b["type"] !== "tool_use" || given === undefined || name === undefined) return [];
    const isCounted = isBareCount(given);
    const callId = isCounted ? laterId(given, within) : given;
    if (isCounted) counted.push(defined<CountedCall>({ given, callId, agentId: here.agentId }));
    return [
      defined<EntryOf<"tool_use">>({
        kind: "tool_use",
        ...at(here, `use:${callId}`, `use:${placeOf(given, within)}`),
        callId,
        name,
        givenId: isCounted && !isJoinedByInput ? given : undefined,
        executable: executableOf(asObject(b["input"])?.["command"]),
        inputDigest: isJoinedByInput ? inputDigest(b["input"]) : undefined,
      } as EntryOf<"tool_use">),
    ];
  });
  const entries = [...facts.entries, call, ...(isAgain ? [] : beside), ...uses];
  const { answer: before, ...rest } = withCounted(state, counted);
  const last = isAgain ? before : answer;
  return { entries, state: last === undefined ? rest : { ...rest, answer: last } };
}

const toldAnswer = (
  id: string | undefined,
  requestId: string | undefined,
  usage: TokenUsage | undefined,
): ToldAnswer | undefined => {
  if (id === undefined || requestId === undefined) return undefined;
  return usage === undefined || usage.input + usage.output === 0 ? { id, requestId } : { id, requestId, usage };
};

/**
 * 2.1.120 asks again, without a stream, where one broke off, and gives the lines of the broken answer the request and the
 * figures of the new one.
 */
const repeats = (before: ToldAnswer | undefined, now: ToldAnswer | undefined): boolean =>
  before !== undefined &&
  before.requestId === now?.requestId &&
  before.id !== now.id &&
  TOKEN_KINDS.every((kind) => before.usage?.[kind] === now.usage?.[kind]);

/** A fork gives each block that it copies an id of its own, where a server gave the answer none. */
const isMadeUp = (id: string, o: Line): boolean =>
  o["requestId"] === undefined && asString(o["requestRef"]) !== undefined && UUID.test(id);
const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;

/** Some relays give one id to all answers (`ocgo`, ccusage issue 1635), or count them: drawn by lot or by a clock are longer ones. */
const isOfOneAnswer = (id: string): boolean =>
  (id.match(/[A-Za-z0-9]{10,}/g) ?? []).some((letters) => /\d/.test(letters));

/** Servers that speak the model's language need not give their messages ids. */
function namelessAnswer(here: Here, id: string | undefined, before: LineState) {
  const { name, known } = nameAnswer(here.o, id, before.nameless ?? [], lineId(here), here.agentId);
  return {
    globalKey: `answer:${name}`,
    within: name,
    state: known.length > 0 ? { ...before, nameless: known } : before,
  };
}

/**
 * What names a call in all sessions: mostly its id. Some providers count theirs in every conversation (`Bash:0`), and have to
 * be told apart by what they stand in.
 */
const placeOf = (given: string, within: string): string => (isCountedId(given) ? `${given}@${within}` : given);

const isCallOf = (call: CountedCall, given: string, agentId: string | undefined): boolean =>
  call.given === given && call.agentId === agentId;

/** A subagent counts anew, and so does a conversation behind its compaction: the last call of an id is the one at work. */
function withCounted(state: LineState, calls: readonly CountedCall[]): LineState {
  if (calls.length === 0) return state;
  const others = (state.counted ?? []).filter((one) => !calls.some((c) => isCallOf(c, one.given, one.agentId)));
  return { ...state, counted: [...others, ...calls].slice(-REMEMBERED_CALLS) };
}

/** More are never at work at once. */
const REMEMBERED_CALLS = 200;

/** Passes of an answer that its own figures leave out: a stronger model was asked for advice, the server compacted the input. */
const BESIDE: ReadonlySet<unknown> = new Set(["advisor_message", "compaction"]);
/** Its own ones; where a model refused and another one answered, its figures are those of the one that answered. */
const OWN: ReadonlySet<unknown> = new Set(["message", "fallback_message"]);

interface Pass {
  readonly place: number;
  readonly model?: string;
  readonly usage: TokenUsage;
}

function passesBeside(usage: Line | undefined): readonly Pass[] {
  const passes = asArray(usage?.["iterations"]).map(asObject);
  const own = passes.filter((pass) => OWN.has(pass?.["type"]));
  const hasFallenBack = own.some((pass) => pass?.["type"] === "fallback_message");
  const answered = hasFallenBack ? asString(own.at(-1)?.["model"]) : undefined;
  return passes.flatMap((pass, place): Pass[] => {
    const model = asString(pass?.["model"]);
    const isRefused = OWN.has(pass?.["type"]) && answered !== undefined && model !== undefined && model !== answered;
    if (!BESIDE.has(pass?.["type"]) && !isRefused) return [];
    const used = usageOf(pass);
    // What is refused before it begins costs nothing
    if (used === undefined || (isRefused && used.output === 0)) return [];
    return [defined<Pass>({ place, model, usage: used })];
  });
}

/** Hooks told a call's id from this version on; for those before, calls are joined by tool and input. */
const CALL_IDS_SINCE = "2.0.43";
/** From this version on every true `stop_reason` has its details, if only null. */
const DETAILS_SINCE = "2.1.150";

const hooksTellNoCallId = (o: Line): boolean => (compareToVersion(o, CALL_IDS_SINCE) ?? 0) < 0;

/** The version that wrote the line, as `compareVersions` tells it: a fork's copies keep theirs. */
function compareToVersion(o: Line, other: string): number | undefined {
  const version = parseVersion(asString(o["version"]) ?? "");
  return version === undefined ? undefined : compareVersions(version, other);
}

/**
 * 2.1.197 and later make up a `stop_reason` for an answer whose stream broke off, with the count of output that stood at its
 * beginning. An answer that was not streamed has details where its server gave them, but its blocks are in one line; and what
 * others write in the agent's form has no `iterations`, which the agent's own sums have whatever the server tells.
 */
const isBrokenOff = (o: Line, message: Line): boolean =>
  message["stop_details"] === undefined &&
  asObject(message["usage"])?.["iterations"] !== undefined &&
  (compareToVersion(o, DETAILS_SINCE) ?? -1) >= 0 &&
  asArray(message["content"]).filter((block) => asObject(block) !== undefined).length < 2;

/** Anthropic's `input_tokens` leaves the cache out; ours includes it. */
function usageOf(usage: Line | undefined): TokenUsage | undefined {
  const fresh = asCount(usage?.["input_tokens"]);
  const output = asCount(usage?.["output_tokens"]);
  if (usage === undefined || fresh === undefined || output === undefined) return undefined;
  const cacheRead = asCount(usage["cache_read_input_tokens"]);
  const cacheWrite = asCount(usage["cache_creation_input_tokens"]);
  const lifetimes = asObject(usage["cache_creation"]);
  return defined<TokenUsage>({
    input: fresh + (cacheRead ?? 0) + (cacheWrite ?? 0),
    output,
    cacheRead,
    cacheWrite,
    cacheWrite5m: asCount(lifetimes?.["ephemeral_5m_input_tokens"]),
    cacheWrite1h: asCount(lifetimes?.["ephemeral_1h_input_tokens"]),
    reasoning: asCount(asObject(usage["output_tokens_details"])?.["thinking_tokens"]),
  });
}

function modelError(here: Here): readonly TranscriptEntry[] {
  const { o } = here;
  if (o["isApiErrorMessage"] !== true) return [];
  return [
    defined<EntryOf<"model_error">>({
      kind: "model_error",
      ...atLine(here, "error"),
      errorType: asCode(o["apiErrorType"]) ?? asCode(o["error"]) ?? "_OTHER",
      httpStatus: asCount(o["apiErrorStatus"]),
      final: true,
    } as EntryOf<"model_error">),
  ];
}

// --- system lines and the agent's own sums ---

function systemLine(here: Here): readonly TranscriptEntry[] {
  const { o } = here;
  switch (o["subtype"]) {
    case "api_error": {
      const httpStatus = asCount(asObject(o["error"])?.["status"]);
      return [
        defined<EntryOf<"model_error">>({
          kind: "model_error",
          ...atLine(here, "error"),
          errorType: httpStatus === undefined ? "_OTHER" : String(httpStatus),
          httpStatus,
          final: false,
        } as EntryOf<"model_error">),
      ];
    }
    case "compact_boundary":
      return [
        defined<EntryOf<"compaction">>({
          kind: "compaction",
          ...atLine(here, "compaction"),
          trigger: asCode(asObject(o["compactMetadata"])?.["trigger"]),
        } as EntryOf<"compaction">),
      ];
    case "turn_duration":
      return [
        defined<EntryOf<"turn_end">>({
          kind: "turn_end",
          ...atLine(here, "turn_end"),
          durationMs: asCount(o["durationMs"]),
        } as EntryOf<"turn_end">),
      ];
    default:
      return [];
  }
}

/** With `--json-schema` a turn's last word is a call of a tool, which nothing comes after. */
const structuredOutput = (here: Here): readonly TranscriptEntry[] =>
  asObject(here.o["attachment"])?.["type"] === "structured_output" && here.agentId === undefined
    ? [{ kind: "turn_end", ...atLine(here, "turn_end") }]
    : [];

const REMEMBERED_REQUESTS = 8;

function rememberRequest(here: Here): LineState {
  const id = asString(here.o["id"]);
  if (id === undefined) return here.state;
  const kept = Object.entries(here.state.requests ?? {}).slice(1 - REMEMBERED_REQUESTS);
  return { ...here.state, requests: Object.fromEntries([...kept, [id, here.timeMs]]) };
}

/** Cumulative over the session's processes, side requests included: kept apart, never added to what calls say. */
function reportedUsage(here: Here): readonly TranscriptEntry[] {
  const byModel: EntryOf<"reported_usage">["byModel"] = {};
  for (const [model, value] of Object.entries(asObject(here.o["modelUsage"]) ?? {})) {
    const u = asObject(value) ?? {};
    const cacheRead = asCount(u["cacheReadInputTokens"]) ?? 0;
    const cacheWrite = asCount(u["cacheCreationInputTokens"]) ?? 0;
    const costUsd = u["costUSD"];
    byModel[model] = {
      input: (asCount(u["inputTokens"]) ?? 0) + cacheRead + cacheWrite,
      output: asCount(u["outputTokens"]) ?? 0,
      cacheRead,
      cacheWrite,
      ...(typeof costUsd === "number" && costUsd >= 0 && { costUsd }),
    };
  }
  return [{ kind: "reported_usage", ...at(here, "reported_usage"), byModel }];
}

function sessionFacts(here: Here): { entries: readonly TranscriptEntry[]; state: LineState } {
  const { o, state, agentId } = here;
  if (agentId !== undefined) return { entries: [], state };
  const facts = { agentVersion: asString(o["version"]), cwd: asString(o["cwd"]), gitBranch: asString(o["gitBranch"]) };
  const { entry, digest } = sessionEntry(facts, here.timeMs, state.promptKey, state.facts);
  return entry === undefined ? { entries: [], state } : { entries: [entry], state: { ...state, facts: digest } };
}

/** Old lines have no id: time and length are the same each time they are read. */
const lineId = (here: Here): string =>
  originalOf(here.o) ?? asString(here.o["uuid"]) ?? `${here.timeMs}:${here.line.bytes.length}`;
