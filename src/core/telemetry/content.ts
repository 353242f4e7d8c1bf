import type { ContentPart } from "../model/content.ts";
import type { ModelCall } from "../model/model-call.ts";
import type { Subagent, Turn } from "../model/session.ts";
import type { Attributes } from "../model/telemetry.ts";
import { responseContentKey } from "../rules/keys.ts";
import type { KeyedSpan } from "./make-span.ts";
import * as semconv from "./semconv.ts";

/** A stored piece of content. */
interface Piece {
  readonly fact: string;
  readonly part: ContentPart;
  readonly text: string;
  readonly isJson: boolean;
}

/** A session's content, and which facts report the same prompt or tool call. */
export interface SessionContent {
  /** In the order in which they arrived. */
  readonly pieces: readonly Piece[];
  /** Facts that report a prompt, by turn key. */
  readonly prompts: ReadonlyMap<string, readonly string[]>;
  /** Facts that report a tool call, by call id. */
  readonly toolCalls: ReadonlyMap<string, readonly string[]>;
  /** Facts from hooks: the transcript's version of the same content is preferred. */
  readonly hooks: ReadonlySet<string>;
}

export const NO_CONTENT: SessionContent = { pieces: [], prompts: new Map(), toolCalls: new Map(), hooks: new Set() };

/**
 * Adds content to the spans it belongs to, in the format of the GenAI conventions; each piece is on one span. If a hook and
 * the transcript report the same content, the transcript's version is used. Optional spans without content are left out.
 *
 * @param run the turn or subagent of these spans
 */
export function* withContent(
  spans: Iterable<KeyedSpan>,
  run: Turn | Subagent,
  content: SessionContent,
): Generator<KeyedSpan> {
  if (content.pieces.length === 0) {
    for (const span of spans) if (span.isOptional !== true) yield span;
    return;
  }
  const byFact = new Map<string, Piece[]>();
  for (const piece of content.pieces) {
    const known = byFact.get(piece.fact);
    if (known === undefined) byFact.set(piece.fact, [piece]);
    else known.push(piece);
  }
  const piecesOf: Lookup = (facts, part) =>
    facts.map((fact) => (byFact.get(fact) ?? []).filter((piece) => piece.part === part)).filter((p) => p.length > 0);
  const calls = new Map(run.modelCalls.map((call) => [call.key, call]));
  for (const span of spans) {
    const attributes = attributesOf(span, run, calls, content, piecesOf);
    const isEmpty = Object.keys(attributes).length === 0;
    if (isEmpty && span.isOptional === true) continue;
    if (isEmpty) yield span;
    else yield { ...span, record: { ...span.record, attributes: { ...span.record.attributes, ...attributes } } };
  }
}

// --- internal ---

/** Returns the pieces of one part for each of the given facts, in that order; facts without such pieces are omitted. */
type Lookup = (facts: readonly string[], part: ContentPart) => readonly (readonly Piece[])[];

function attributesOf(
  span: KeyedSpan,
  run: Turn | Subagent,
  calls: ReadonlyMap<string, ModelCall>,
  content: SessionContent,
  piecesOf: Lookup,
): Attributes {
  switch (span.subject) {
    case "turn":
      return {
        ...messages(
          semconv.GEN_AI_INPUT_MESSAGES,
          "user",
          piecesOf(content.prompts.get(span.name) ?? [], "prompt").at(-1),
        ),
        ...unassignedAnswer(run, content, piecesOf, content.prompts.get(span.name)),
      };
    case "subagent":
      return unassignedAnswer(run, content, piecesOf);
    case "model_call": {
      const call = calls.get(span.name);
      if (call === undefined) return {};
      const finish = call.finishReason ?? (call.asksForTools === true ? "tool_call" : "unknown");
      return messages(
        semconv.GEN_AI_OUTPUT_MESSAGES,
        "assistant",
        piecesOf(contentKeysOf(call), "answer").flat(),
        finish,
      );
    }
    case "tool_call": {
      const facts = content.toolCalls.get(span.name) ?? [];
      return {
        ...value(semconv.GEN_AI_TOOL_CALL_ARGUMENTS, piecesOf(facts, "arguments").at(-1)),
        ...value(semconv.GEN_AI_TOOL_CALL_RESULT, piecesOf(facts, "result").at(-1)),
      };
    }
    case "session":
    case "native":
      return {};
    default:
      return unreachable(span.subject);
  }
}

/**
 * An answer that belongs to no model call's span: it was never completed, only hooks reported it, or the transcript has it without a
 * record of its own, as that of its prompt.
 */
function unassignedAnswer(
  run: Turn | Subagent,
  { hooks }: SessionContent,
  piecesOf: Lookup,
  prompts: readonly string[] = [],
): Attributes {
  const calls = new Set(run.modelCalls.filter((call) => call.covers === undefined).map(({ key }) => key));
  const isWritten = piecesOf(run.modelCalls.flatMap(contentKeysOf), "answer").length > 0;
  const isOfPrompt = piecesOf(prompts, "answer").length > 0;
  const isLess = (fact: string): boolean =>
    (isWritten && prompts.includes(fact)) || ((isWritten || isOfPrompt) && hooks.has(fact));
  const others = run.uses.filter((fact) => !calls.has(fact) && !isLess(fact));
  const pieces = piecesOf(others, "answer").flat();
  return messages(semconv.GEN_AI_OUTPUT_MESSAGES, "assistant", pieces, "unknown");
}

const contentKeysOf = ({ key, responseId, covers }: ModelCall): readonly string[] =>
  covers !== undefined ? [] : [key, ...(responseId === undefined ? [] : [responseContentKey(responseId)])];

function messages(
  name: string,
  role: "user" | "assistant",
  pieces: readonly Piece[] | undefined,
  finishReason?: string,
): Attributes {
  if (pieces === undefined || pieces.length === 0) return {};
  const parts = pieces.map(({ text, isJson }) => (isJson ? JSON.parse(text) : { type: "text", content: text }));
  return {
    [name]: JSON.stringify([{ role, parts, ...(finishReason !== undefined && { finish_reason: finishReason }) }]),
  };
}

const value = (name: string, pieces: readonly Piece[] | undefined): Attributes =>
  pieces?.[0] === undefined ? {} : { [name]: pieces[0].text };

const unreachable = (subject: never): never => {
  throw new Error(`no such span: ${String(subject)}`);
};
