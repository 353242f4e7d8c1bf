// Form of thread files: public readers and samples named in README.md beside this file, read 2026-11-26; not recorded

import { fileURLToPath } from "node:url";
import type { ContentUpdate } from "#core/model/content.ts";
import type { EntryOf, TokenUsage, TranscriptEntry } from "#core/model/transcript.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { sumKnown, withParts } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { executableOf } from "../shared/names/executables.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import {
  asCode,
  asCount,
  asNanoUnits,
  asObject,
  asString,
  asTimeMs,
  type Fields,
  objectsIn,
} from "../shared/payload/json.ts";
import { writesOfCall } from "../shared/payload/tool-writes.ts";
import { messageKey, outcomeIn } from "./adapter.ts";
import { EDITORS } from "./own-names.ts";

/** What a thread file contains. */
interface Thread {
  readonly entries: readonly TranscriptEntry[];
  readonly content: readonly ContentUpdate[];
  /** Messages that were read. */
  readonly records: number;
}

/** Ids of the threads that a thread names, among them the one that it was forked from; empty if it names none. */
export const relatedTo = (thread: Fields): readonly string[] =>
  objectsIn(thread["relationships"]).flatMap((one) => asString(one["threadID"]) ?? []);

/**
 * A whole thread.
 *
 * @param writtenMs when the file was written, for a thread without any time
 * @param isOriginThere whether the file of a thread that this one may be forked from still exists: the messages copied
 *   from there are counted there and left out here
 */
export function readThread(thread: Fields, writtenMs: number, isOriginThere: boolean): Thread {
  const createdMs = asCount(thread["created"]) ?? writtenMs;
  const walk = new Walk(createdMs);
  const all = objectsIn(thread["messages"]);
  const messages = isOriginThere ? withoutCopies(all, createdMs) : all;
  walk.session(thread);
  const ledger = ledgerOf(thread, messages);
  for (const message of messages) {
    walk.message(message, ledger.byMessage.get(messageKey(message["messageId"]) ?? ""));
  }
  for (const event of ledger.others) walk.call(event, undefined, event);
  return { entries: walk.entries, content: walk.content, records: messages.length };
}

// --- internal ---

/** A fork begins with its origin's messages, which keep their times. Messages without a time belong to the one before. */
function withoutCopies(messages: readonly Fields[], createdMs: number): readonly Fields[] {
  let isCopy = false;
  return messages.filter((message) => {
    const timeMs = timeOf(message);
    if (timeMs !== undefined) isCopy = timeMs < createdMs;
    return !isCopy;
  });
}

const timeOf = (message: Fields): number | undefined =>
  asCount(asObject(message["meta"])?.["sentAt"]) ?? asTimeMs(asObject(message["usage"])?.["timestamp"]);

/**
 * Until January 2026 usage was in a list beside the messages. An event for a message with usage repeats that usage; an
 * event for no message is a further call.
 */
function ledgerOf(thread: Fields, messages: readonly Fields[]) {
  const answers = new Map(
    messages.flatMap((message) => {
      const key = messageKey(message["messageId"]);
      return message["role"] === "assistant" && key !== undefined ? [[key, message] as const] : [];
    }),
  );
  const byMessage = new Map<string, Fields>();
  const others: Fields[] = [];
  for (const event of objectsIn(asObject(thread["usageLedger"])?.["events"])) {
    const key = messageKey(event["toMessageId"]);
    const answer = key === undefined ? undefined : answers.get(key);
    if (answer === undefined || key === undefined) others.push(event);
    else if (byMessage.has(key)) others.push(event);
    else byMessage.set(key, event);
  }
  return { byMessage, others };
}

class Walk {
  readonly entries: TranscriptEntry[] = [];
  readonly content: ContentUpdate[] = [];
  /** Time of the last message that has one, for those that have none. */
  #timeMs: number;
  readonly #createdMs: number;
  #promptKey: string | undefined;

  constructor(createdMs: number) {
    this.#createdMs = createdMs;
    this.#timeMs = createdMs;
  }

  session(thread: Fields): void {
    const initial = asObject(asObject(thread["env"])?.["initial"]);
    const facts = defined<{ cwd: string; agentVersion: string }>({
      cwd: objectsIn(initial?.["trees"])
        .map((tree) => pathOf(tree["uri"]))
        .find((path) => path !== undefined),
      agentVersion: asString(asObject(initial?.["platform"])?.["clientVersion"]),
    });
    this.entries.push({ kind: "session", key: "session", timeMs: this.#createdMs, ...facts });
  }

  message(message: Fields, billed: Fields | undefined): void {
    if (message["role"] === "user") this.#user(message);
    else if (message["role"] === "assistant") this.#answer(message, billed);
  }

  /** A model call. @returns its key */
  call(message: Fields, usage: Fields | undefined, billed: Fields | undefined): string | undefined {
    const counts = usageOf(usage) ?? billedUsageOf(billed);
    const model = asString(usage?.["model"]) ?? asString(billed?.["model"]);
    const at = usage?.["timestamp"] ?? billed?.["timestamp"];
    const endMs = asTimeMs(at) ?? this.#timeMs;
    const id = messageKey(message["messageId"]) ?? messageKey(billed?.["id"]);
    // A fork contains the messages of its thread, with their times and figures
    const key =
      asTimeMs(at) === undefined
        ? `call:${id ?? this.entries.length}`
        : `call:${asTimeMs(at)}:${model}:${digits(counts)}`;
    const stop = asCode(asObject(message["state"])?.["stopReason"]);
    this.entries.push(
      defined<EntryOf<"model_call">>({
        kind: "model_call",
        key,
        globalKey: asTimeMs(at) === undefined ? undefined : key,
        timeMs: endMs,
        promptKey: this.#promptKey,
        model,
        endMs,
        usage: counts,
        nanoCredits: asNanoUnits(billed?.["credits"] ?? usage?.["credits"]),
        complete: true,
        finishReason: stop,
        asksForTools: stop === "tool_use" ? true : undefined,
      }),
    );
    return key;
  }

  #user(message: Fields): void {
    const id = messageKey(message["messageId"]);
    const sentMs = asCount(asObject(message["meta"])?.["sentAt"]);
    this.#timeMs = Math.max(this.#timeMs, sentMs ?? 0);
    const blocks = objectsIn(message["content"]);
    const text = asString(message["content"]) ?? textIn(blocks);
    if (text !== undefined && id !== undefined) {
      this.#promptKey = id;
      const key = `prompt:${id}`;
      this.entries.push(
        defined<EntryOf<"prompt">>({
          kind: "prompt",
          key,
          // A message's number identifies it across threads only together with its time
          globalKey: sentMs === undefined ? undefined : `${key}@${sentMs}`,
          timeMs: sentMs ?? this.#timeMs,
          promptKey: id,
          origin: "human",
          length: text.length,
        }),
      );
      this.content.push(...contentOf(key, "prompt", text));
    }
    for (const block of blocks) if (block["type"] === "tool_result") this.#result(block);
  }

  #answer(message: Fields, billed: Fields | undefined): void {
    const state = asString(asObject(message["state"])?.["type"]);
    const usage = asObject(message["usage"]);
    // Usage is written only when the answer is complete
    if (state === "streaming" && usage === undefined) return;
    const endMs = asTimeMs(usage?.["timestamp"]) ?? asTimeMs(billed?.["timestamp"]);
    this.#timeMs = Math.max(this.#timeMs, endMs ?? 0);
    const isFailed = state === "error" && usage === undefined && billed === undefined;
    const key = isFailed ? undefined : this.call(message, usage, billed);
    const blocks = objectsIn(message["content"]);
    if (key !== undefined) {
      for (const block of blocks) this.content.push(...answerPiece(key, asString(block["text"]) ?? ""));
    }
    for (const block of blocks) if (block["type"] === "tool_use") this.#use(block, key);
    const id = messageKey(message["messageId"]) ?? String(this.#timeMs);
    const at = { timeMs: this.#timeMs, ...(this.#promptKey !== undefined && { promptKey: this.#promptKey }) };
    if (state === "cancelled") {
      this.entries.push({ kind: "interruption", key: `interruption:${this.#promptKey ?? id}`, ...at });
    }
    if (state === "error") {
      this.entries.push({ kind: "model_error", key: `error:${id}`, ...at, errorType: "_OTHER", final: true });
    }
  }

  #use(block: Fields, answer: string | undefined): void {
    const callId = asString(block["id"]);
    const name = asString(block["name"]);
    if (callId === undefined || name === undefined) return;
    const input = asObject(block["input"]);
    const key = `use:${callId}`;
    this.entries.push(
      defined<EntryOf<"tool_use">>({
        kind: "tool_use",
        key,
        globalKey: key,
        timeMs: this.#timeMs,
        promptKey: this.#promptKey,
        callId,
        name,
        executable: executableOf(input?.["cmd"] ?? input?.["command"]),
        files: writesOfCall(EDITORS, name, input),
      }),
    );
    this.content.push(...contentOf(key, "arguments", block["input"]));
    if (answer !== undefined) this.content.push(...answerPiece(answer, toolCallPart(callId, name)));
  }

  #result(block: Fields): void {
    const callId = asString(block["toolUseID"]);
    const run = asObject(block["run"]);
    const outcome = outcomeIn(run?.["status"], run?.["result"]);
    if (callId === undefined || outcome === undefined) return;
    const key = `result:${callId}`;
    this.entries.push({
      kind: "tool_result",
      key,
      globalKey: key,
      timeMs: this.#timeMs,
      ...(this.#promptKey !== undefined && { promptKey: this.#promptKey }),
      callId,
      ...outcome,
    });
    const result = run?.["result"] ?? run?.["error"];
    this.content.push(...contentOf(key, "result", plainText(asObject(result)?.["output"]) ?? result));
  }
}

/** Input excludes cache reads and writes: `totalInputTokens` is the sum of the three. */
function usageOf(usage: Fields | undefined): TokenUsage | undefined {
  const [uncached, output] = [asCount(usage?.["inputTokens"]), asCount(usage?.["outputTokens"])];
  const cacheRead = asCount(usage?.["cacheReadInputTokens"]);
  const cacheWrite = asCount(usage?.["cacheCreationInputTokens"]);
  const total = asCount(usage?.["totalInputTokens"]);
  return someOf({ input: withParts(uncached, cacheRead, cacheWrite) ?? total, output, cacheRead, cacheWrite });
}

/** A ledger's event has no cache figures, and its input excludes the cache, so the whole input is unknown. */
const billedUsageOf = (event: Fields | undefined): TokenUsage | undefined =>
  someOf({ output: asCount(asObject(event?.["tokens"])?.["output"]) });

/** If all figures are zero, nothing was reported. */
function someOf(counts: { readonly [K in keyof TokenUsage]?: number | undefined }): TokenUsage | undefined {
  return sumKnown(Object.values(counts)) ? defined<TokenUsage>(counts as TokenUsage) : undefined;
}

const digits = (usage: TokenUsage | undefined): string =>
  [usage?.input, usage?.output, usage?.cacheRead, usage?.cacheWrite].map((n) => n ?? "").join("/");

function textIn(blocks: readonly Fields[]): string | undefined {
  const texts = blocks.flatMap((block) => (block["type"] === "text" ? (asString(block["text"]) ?? []) : []));
  return texts.length === 0 ? undefined : texts.join("\n");
}

function pathOf(uri: unknown): string | undefined {
  const text = asString(uri);
  if (text?.startsWith("file:///") !== true) return undefined;
  try {
    return fileURLToPath(text);
  } catch {
    return undefined;
  }
}
