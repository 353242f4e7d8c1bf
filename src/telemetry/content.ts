import type { ContentPart } from "../model/content.ts";
import { ofResponse } from "../model/content-keys.ts";
import type { ModelCall, Subagent, Turn } from "../model/session.ts";
import type { Attributes } from "../model/telemetry.ts";
import * as semconv from "./semconv.ts";
import type { KeyedSpan } from "./spans.ts";

/** A piece of content as it was kept; see the store. */
export interface Piece {
  readonly fact: string;
  readonly part: ContentPart;
  readonly text: string;
  readonly isJson: boolean;
}

/** What a session wrote and was answered, and which facts tell of the same thing. */
export interface SessionContent {
  /** In the order in which it was told. */
  readonly pieces: readonly Piece[];
  /** Facts that tell of a prompt, by the turn's key. */
  readonly prompts: ReadonlyMap<string, readonly string[]>;
  /** Facts that tell of a tool call, by its id. */
  readonly toolCalls: ReadonlyMap<string, readonly string[]>;
  /** Facts that hooks told: what the transcript says of the same is taken instead. */
  readonly hooks: ReadonlySet<string>;
}

export const NO_CONTENT: SessionContent = { pieces: [], prompts: new Map(), toolCalls: new Map(), hooks: new Set() };

/**
 * Puts what was written on the spans it belongs to, in the form of the GenAI conventions: each piece on one span. Where
 * a hook and the transcript tell the same, the transcript's word is taken.
 *
 * @param run whose spans these are
 */
export function withContent(
  spans: readonly KeyedSpan[],
  run: Turn | Subagent,
  content: SessionContent,
): readonly KeyedSpan[] {
  if (content.pieces.length === 0) return spans;
  const byFact = new Map<string, Piece[]>();
  for (const piece of content.pieces) {
    const known = byFact.get(piece.fact);
    if (known === undefined) byFact.set(piece.fact, [piece]);
    else known.push(piece);
  }
  const told: Lookup = (facts, part) =>
    facts.map((fact) => (byFact.get(fact) ?? []).filter((piece) => piece.part === part)).filter((p) => p.length > 0);
  return spans.map((span) => {
    const attributes = attributesOf(span, run, content, told);
    if (Object.keys(attributes).length === 0) return span;
    return { ...span, record: { ...span.record, attributes: { ...span.record.attributes, ...attributes } } };
  });
}

// --- internal ---

/** The pieces of each fact that told any, the facts in the order given. */
type Lookup = (facts: readonly string[], part: ContentPart) => readonly (readonly Piece[])[];

function attributesOf(span: KeyedSpan, run: Turn | Subagent, content: SessionContent, told: Lookup): Attributes {
  switch (span.subject) {
    case "turn":
      return {
        ...messages(semconv.GEN_AI_INPUT_MESSAGES, "user", told(content.prompts.get(span.name) ?? [], "prompt").at(-1)),
        ...lastWord(run, content, told),
      };
    case "subagent":
      return lastWord(run, content, told);
    case "model_call": {
      const call = run.modelCalls.find(({ key }) => key === span.name);
      if (call === undefined) return {};
      const finish = call.finishReason ?? (call.asksForTools === true ? "tool_call" : "unknown");
      return messages(semconv.GEN_AI_OUTPUT_MESSAGES, "assistant", told(factsOf(call), "answer").flat(), finish);
    }
    case "tool_call": {
      const facts = content.toolCalls.get(span.name) ?? [];
      return {
        ...value(semconv.GEN_AI_TOOL_CALL_ARGUMENTS, told(facts, "arguments").at(-1)),
        ...value(semconv.GEN_AI_TOOL_CALL_RESULT, told(facts, "result").at(-1)),
      };
    }
    case "session":
      return {};
    default:
      return unreachable(span.subject);
  }
}

/** An answer that stands on no model call's span: it never came to its end, or hooks alone tell of it. */
function lastWord(run: Turn | Subagent, { hooks }: SessionContent, told: Lookup): Attributes {
  const calls = new Set(run.modelCalls.filter((call) => call.covers === undefined).map(({ key }) => key));
  const isWritten = told(run.modelCalls.flatMap(factsOf), "answer").length > 0;
  const others = run.uses.filter((fact) => !calls.has(fact) && !(isWritten && hooks.has(fact)));
  const pieces = told(others, "answer").flat();
  return messages(semconv.GEN_AI_OUTPUT_MESSAGES, "assistant", pieces, "unknown");
}

const factsOf = ({ key, responseId, covers }: ModelCall): readonly string[] =>
  covers !== undefined ? [] : [key, ...(responseId === undefined ? [] : [ofResponse(responseId)])];

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
