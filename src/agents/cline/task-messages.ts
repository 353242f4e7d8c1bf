// Messages as in github.com/cline/cline, apps/vscode/src/shared/ExtensionMessage.ts, August 2026, read 2026-11-26

import type { FileWrite } from "#core/model/file-write.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { providerName } from "../shared/names/providers.ts";
import { asCode, asCount, asObject, asString, parsedObject } from "../shared/payload/json.ts";
import type { Message } from "./messages.ts";
import type { TaskModels } from "./task-metadata.ts";
import { type Answer, callIdOf, type TaskTool } from "./task-tools.ts";
import { dropsReasoning, type Figures, usageOf } from "./task-usage.ts";

/** Reads the messages of a task one after the other. Entries come as soon as later messages cannot change them. */
export class TaskMessages {
  readonly #models: TaskModels;
  /** Answers without a request yet, in order. */
  readonly #unclaimed: Answer[];
  readonly #givenIds = new Map<string, string>();
  #entries: TranscriptEntry[] = [];
  #request: Request | undefined;
  #promptKey: string | undefined;
  #isFirst = true;
  #lastMs = 0;
  /** For content: keys of model calls → their answers, call ids → tools. */
  readonly answerOf = new Map<string, Answer>();
  readonly toolOf = new Map<string, TaskTool>();

  /** @param answers all of the task, in order */
  constructor(answers: readonly Answer[], models: TaskModels) {
    this.#models = models;
    this.#unclaimed = [...answers];
  }

  /** @returns the entries that are complete with this message */
  add(message: Message): readonly TranscriptEntry[] {
    const ts = asCount(message["ts"]);
    if (ts === undefined) return [];
    const kind = asString(message["type"] === "ask" ? message["ask"] : message["say"]);
    if (this.#isFirst || (message["type"] === "say" && (kind === "task" || kind === "user_feedback"))) {
      this.#prompt(message, ts);
    } else if (message["type"] === "say") this.#say(kind, message, ts);
    else this.#ask(kind, ts);
    this.#isFirst = false;
    this.#lastMs = Math.max(this.#lastMs, ts);
    return this.#take();
  }

  /** @returns the entries of the last request, and of answers that no message shows */
  end(): readonly TranscriptEntry[] {
    this.#closeRequest(this.#lastMs);
    for (const answer of this.#unclaimed) this.#tools(answer, answer.timeMs ?? this.#lastMs, `index:${answer.index}`);
    return this.#take();
  }

  // --- internal ---

  #take(): readonly TranscriptEntry[] {
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  #at(key: string, timeMs: number) {
    return defined<{ key: string; timeMs: number; promptKey: string }>({ key, timeMs, promptKey: this.#promptKey });
  }

  #prompt(message: Message, ts: number): void {
    this.#closeRequest(ts);
    this.#promptKey = `prompt:${ts}`;
    const text = asString(message["text"]);
    // As hooks report it
    const length = text?.trim().length;
    this.#entries.push({
      kind: "prompt",
      ...this.#at(this.#promptKey, ts),
      origin: "human",
      ...defined<{ length: number }>({ length }),
    });
  }

  #say(kind: string | undefined, message: Message, ts: number): void {
    const figures = (): Figures => parsedObject(asString(message["text"]) ?? "") ?? {};
    switch (kind) {
      case "api_req_started":
        this.#closeRequest(ts);
        this.#request = {
          ts,
          figures: figures(),
          index: placeOf(message["conversationHistoryIndex"]),
          model: asObject(message["modelInfo"]),
          isAnswered: false,
          firstMs: undefined,
          errors: [],
        };
        break;
      case "api_req_finished":
        // Until 2.0 the figures came in a message that followed
        if (this.#request !== undefined)
          this.#request = { ...this.#request, figures: { ...this.#request.figures, ...figures() } };
        break;
      case "deleted_api_reqs":
        this.#closeRequest(ts);
        this.#sum("removed", figures(), ts, this.#lastMs, undefined);
        break;
      case "subagent_usage":
        this.#sum("turn", figures(), ts, ts, asObject(message["modelInfo"]));
        break;
      case "error_retry": {
        const { attempt, failed } = figures();
        const name = failed === true ? "final" : String(asCount(attempt) ?? ts);
        if (this.#request !== undefined) this.#error(this.#request, name, ts, figures());
        break;
      }
      case "completion_result":
        this.#answered(ts);
        this.#turnEnd(ts);
        break;
      default:
        if (kind !== undefined && ANSWERS.has(kind)) this.#answered(ts);
    }
  }

  #ask(kind: string | undefined, ts: number): void {
    if (kind === "api_req_failed" && this.#request !== undefined) this.#error(this.#request, "final", ts, {});
    else if (kind !== undefined && ANSWERS.has(kind)) this.#answered(ts);
    if (kind !== undefined && WAITS.has(kind)) this.#turnEnd(ts);
  }

  #answered(ts: number): void {
    if (this.#request === undefined) return;
    this.#request.isAnswered = true;
    this.#request.firstMs ??= ts;
  }

  #turnEnd(ts: number): void {
    if (this.#promptKey === undefined) return;
    this.#entries.push({ kind: "turn_end", ...this.#at(`turn_end:${this.#promptKey}`, ts) });
  }

  /** @param name of the attempt; `final`: the last one */
  #error(request: Request, name: string, ts: number, figures: Figures): void {
    const key = `error:${request.ts}:${name}`;
    if (request.errors.includes(key)) return;
    request.errors.push(key);
    const details = parsedObject(
      asString(figures["errorMessage"]) ?? asString(figures["streamingFailedMessage"]) ?? "",
    );
    const status = asCount(details?.["status"]);
    this.#entries.push({
      kind: "model_error",
      ...this.#at(key, ts),
      errorType: asCode(details?.["code"]) ?? "_OTHER",
      final: name === "final",
      ...(status !== undefined && status >= 100 && status < 600 && { httpStatus: status }),
    });
  }

  /** Reports the request before, now that its figures are known as far as they will be. */
  #closeRequest(nextMs: number): void {
    const request = this.#request;
    this.#request = undefined;
    if (request === undefined) return;
    const { ts, figures } = request;
    const answer = this.#answerFor(request);
    const reason = asString(figures["cancelReason"]);
    const info = request.model ?? asObject(answer?.model);
    const provider = asString(info?.["providerId"]) ?? this.#models.at(ts)?.provider;
    const model = asString(info?.["modelId"]) ?? this.#models.at(ts)?.model;
    const usage = usageOf(figures, provider === undefined ? [] : [provider]);
    // The extension removes a request without answer and figures when the task is continued
    if (usage === undefined && reason === undefined && !request.isAnswered && answer === undefined) {
      if (figures["streamingFailedMessage"] === undefined) return;
    }
    this.#models.seen(ts, provider, model);
    this.#models.spent(model, figures, usage);
    const endMs = Math.max(ts, Math.min(answer?.timeMs ?? request.firstMs ?? ts, Math.max(nextMs, ts)));
    const isOver = answer !== undefined || request.isAnswered;
    const goesOn = answer?.tools.some(({ name }) => !LAST_TOOLS.has(name)) === true;
    const call: EntryOf<"model_call"> = {
      kind: "model_call",
      ...this.#at(`request:${ts}`, ts),
      startMs: ts,
      endMs,
      // While an answer arrives, some providers report its output step by step
      complete: usage?.output !== undefined && reason === undefined && isOver && !dropsReasoning(provider, model),
      ...defined<{ model: string; provider: string; usage: TokenUsage; asksForTools: true }>({
        model,
        provider: providerName(provider),
        usage,
        asksForTools: goesOn ? true : undefined,
      }),
    };
    this.#entries.push(call);
    if (answer !== undefined) {
      this.answerOf.set(call.key, answer);
      this.#tools(answer, endMs, String(ts), nextMs);
    }
    const hasFailed = reason === "streaming_failed" || figures["streamingFailedMessage"] !== undefined;
    if (hasFailed && request.errors.length === 0) this.#error(request, "final", endMs, figures);
    if (reason === "user_cancelled") {
      this.#entries.push({ kind: "interruption", ...this.#at(`interruption:${ts}`, endMs) });
    }
  }

  /** The answer to a request: by its index, which later versions record; otherwise the next one. */
  #answerFor({ index, isAnswered, figures }: Request): Answer | undefined {
    const hasAnswer =
      isAnswered || figures["cancelReason"] !== undefined || asCount(figures["tokensOut"]) !== undefined;
    const at =
      index === undefined ? (hasAnswer ? 0 : -1) : this.#unclaimed.findIndex((answer) => answer.index === index + 2);
    return at === -1 ? undefined : this.#unclaimed.splice(at, 1)[0];
  }

  #tools(answer: Answer, timeMs: number, place: string, nextMs = timeMs): void {
    for (const [at, tool] of answer.tools.entries()) {
      // This call only ends the task, and hooks do not report it
      if (tool.name === "attempt_completion") continue;
      // Without a result a tool in XML can be an example in a text
      if (tool.givenId === undefined && tool.result === undefined) continue;
      const callId = callIdOf(tool, at, place, this.#givenIds);
      const { name, inputDigest, executable, skill, mcpServer, files, result } = tool;
      this.toolOf.set(callId, tool);
      this.#entries.push({
        kind: "tool_use",
        ...this.#at(`use:${callId}`, timeMs),
        callId,
        name,
        ...defined<{
          inputDigest: string;
          executable: string;
          skill: string;
          mcpServer: string;
          files: readonly FileWrite[];
        }>({
          inputDigest,
          executable,
          skill,
          mcpServer,
          files,
        }),
      });
      if (result === undefined) continue;
      this.#entries.push({
        kind: "tool_result",
        ...this.#at(`result:${callId}`, Math.max(timeMs, result.timeMs ?? nextMs)),
        callId,
        status: result.status,
      });
    }
  }

  /** A sum over calls that are not recorded one by one. @param sinceMs calls up to then are not among them */
  #sum(
    covers: "turn" | "removed",
    figures: Figures,
    ts: number,
    sinceMs: number,
    info: Readonly<Record<string, unknown>> | undefined,
  ): void {
    const named = asString(info?.["providerId"]);
    const providers = named === undefined ? this.#models.providersUntil(ts) : [named];
    const usage = usageOf(figures, providers);
    const model = asString(info?.["modelId"]) ?? this.#models.onlyModelUntil(ts);
    this.#models.spent(model, figures, usage);
    if (usage === undefined) return;
    this.#entries.push({
      kind: "model_call",
      ...this.#at(`${covers}:${ts}`, ts),
      startMs: sinceMs,
      endMs: ts,
      complete: !providers.some((provider) => dropsReasoning(provider, model)),
      covers,
      usage,
      ...defined<{ model: string; provider: string }>({
        model,
        provider: providers.length === 1 ? providerName(providers[0]) : undefined,
      }),
    });
  }
}

// --- internal ---

interface Request {
  readonly ts: number;
  readonly figures: Figures;
  /** Index of the message before the request, among the messages that are sent to the model. */
  readonly index: number | undefined;
  readonly model: Readonly<Record<string, unknown>> | undefined;
  isAnswered: boolean;
  /** When the first part of the answer was shown. */
  firstMs: number | undefined;
  readonly errors: string[];
}

/** An index among the messages that are sent to the model; -1 before the first one. */
const placeOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value >= -1 ? value : undefined;

/** Messages that show something of an answer. */
const ANSWERS: ReadonlySet<string> = new Set(
  `act_mode_respond browser_action browser_action_launch command completion_result condense followup mcp_server_request_started
  new_task plan_mode_respond reasoning report_bug summarize_task text tool use_mcp_server use_subagents`.split(/\s+/),
);

/** Questions to the user that end a turn. */
const WAITS: ReadonlySet<string> = new Set(["completion_result", "followup", "plan_mode_respond"]);

/** Tools with which an answer is the last one of its turn. */
const LAST_TOOLS: ReadonlySet<string> = new Set(["attempt_completion", "ask_followup_question", "plan_mode_respond"]);
