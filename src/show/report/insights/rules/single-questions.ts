import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import { costBeyond } from "../../call-totals.ts";
import type { PlacedCall } from "../../explain-money.ts";
import type { Material, Rule } from "../insight.ts";
import type { ReadSession } from "../read-sessions.ts";
import { Tally } from "../tally.ts";

/**
 * Sessions with one question and one short answer without any tool, answered by a model although the agent's user also works with a
 * cheaper one. Short answers in longer sessions do not count: another model would have had to read the whole context without a cache.
 * Source: the usage of the call, and the prices of both models for the same tokens.
 */
export const singleQuestionsRule: Rule = (material) => {
  const found = new Map<string, { readonly model: string; readonly other: string; readonly tally: Tally }>();
  for (const session of material.sessions) {
    const placed = singleAnswer(session);
    const model = placed?.call.model;
    if (placed === undefined || model === undefined) continue;
    const best = cheapest(placed, session, modelsOf(material, session.view.stored.source, model));
    if (best === undefined) continue;
    const key = `${model} → ${best.model}`;
    const known = found.get(key) ?? { model, other: best.model, tally: new Tally() };
    found.set(key, known);
    known.tally.add(session, placed, best.lessNanoUsd);
  }
  return [...found].map(([subject, { model, other, tally }]) => ({
    subject,
    evidence: "derived",
    measure: "additional",
    text: `${plural(tally.sessions, "session")} asked ${printable(model)} one question that took no tool and a short answer; ${printable(other)} has a lower price for the same tokens.`,
    advice: `Ask short questions with ${printable(other)}, which you also use.`,
    tally,
  }));
};

// --- internal ---

const MAX_OUTPUT = 300;
/** A model that was only tried is no alternative. */
const MIN_CALLS = 20;

function singleAnswer({ calls, view, isWhole, isSubagent }: ReadSession): PlacedCall | undefined {
  const [only, another] = calls;
  const output = only?.call.usage?.output;
  if (only === undefined || another !== undefined || !isWhole || isSubagent) return undefined;
  const isShort = only.call.complete && output !== undefined && output <= MAX_OUTPUT;
  return isShort && view.prompts === 1 && view.toolCalls.length === 0 ? only : undefined;
}

/** The models that the user also works with, with the same agent. */
const modelsOf = ({ models }: Material, agent: string, model: string): readonly string[] =>
  models.flatMap(({ key, calls }) =>
    key.agent === agent && key.model && key.model !== model && (calls?.modelCalls ?? 0) >= MIN_CALLS ? [key.model] : [],
  );

function cheapest({ call }: PlacedCall, { view }: ReadSession, models: readonly string[]) {
  const ways = models.flatMap((model) => {
    const lessNanoUsd = costBeyond(call, { ...call, model }, view.facts.provider);
    return lessNanoUsd === undefined || lessNanoUsd === 0 ? [] : [{ model, lessNanoUsd }];
  });
  return ways.sort((a, b) => b.lessNanoUsd - a.lessNanoUsd)[0];
}
