import { grouped } from "#kit/objects.ts";
import { type MissCause, missSums } from "../../cache-misses.ts";
import { missSentence } from "../../findings-cache.ts";
import type { Rule } from "../insight.ts";
import { Tally } from "../tally.ts";

/**
 * Calls that could not read the beginning of their prompt from the cache, by cause. Misses whose cause nobody knows are no insight:
 * nothing can be advised. Source: the provider's verdict in the transcript, otherwise the records; docs/decisions/0071.
 */
export const cacheRule: Rule = ({ sessions }) =>
  [
    ...grouped(
      sessions.flatMap((session) => session.misses.map((miss) => ({ session, miss }))),
      ({ miss }) => `${miss.cause} ${miss.evidence}`,
    ).values(),
  ].flatMap((found) => {
    const [sum] = missSums(found.map(({ miss }) => miss));
    const advice = sum && ADVICE[sum.cause];
    if (sum === undefined || sum.evidence === "unknown" || advice === undefined) return [];
    const tally = new Tally();
    for (const { session, miss } of found) tally.add(session, miss.call, miss.costNanoUsd, miss.tokens);
    const { cause, evidence } = sum;
    // The same cause can be known in two ways
    const subject = evidence === "reported" ? `${cause}_reported` : cause;
    return [{ subject, evidence, measure: "additional", text: `${missSentence(sum)}.`, advice, tally }];
  });

// --- internal ---

const ADVICE: Readonly<Partial<Record<MissCause, string>>> = {
  tools_changed: "Connect MCP servers and change tools before a session starts, not while it runs.",
  system_changed: "Change instructions, memory files and output styles between sessions, not while one runs.",
  model_changed: "Stay with one model in a session; give another model a session of its own.",
  messages_changed:
    "Rewinding, editing and shortening a conversation makes its prompt new: start a new session instead.",
  compaction: "Start a new session when the subject changes, before the context has to be compacted.",
  expired: "After a pause, start a new session with a short prompt instead of going on with a long one.",
  subagent: "Give subagents fewer and larger tasks: each one begins with a prompt that no cache has.",
};
