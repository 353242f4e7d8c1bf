import { plural } from "#kit/text/figures.ts";
import type { Explanation } from "./explain.ts";
import { noPriceNotesOf } from "./prices.ts";

/** What cannot be determined for this session, and why. */
export function unknownsOf({ view, time, money, habits }: Explanation): readonly string[] {
  const { total } = money;
  const toolCalls = view.toolCalls.length;
  const unknowns: string[] = [];
  const hasTokens = total.input !== undefined || total.output !== undefined;
  if (!hasTokens && view.facts.usageUnknown === true) {
    unknowns.push("tokens and cost are unknown: the agent does not report them, or its transcript was not read");
  } else {
    unknowns.push(...noPriceNotesOf(view.calls));
  }
  if (hasTokens && total.callsWithoutUsage > 0) {
    unknowns.push(
      `tokens and cost of ${plural(total.callsWithoutUsage, "call or turn", "calls or turns")} were not reported, or not all of them`,
    );
  }
  if (total.incompleteCalls > 0) {
    const answers = plural(total.incompleteCalls, "answer was", "answers were");
    unknowns.push(`output is a lower bound: ${answers} cut short`);
  }
  if (view.calls.some(({ call }) => call.covers !== undefined)) {
    unknowns.push("the agent reports totals over several calls: the time of each call is unknown");
  } else if (time?.isModelTimed === false && toolCalls > 0) {
    unknowns.push(
      "time waiting for the model and the agent's own time are one figure: the agent does not report model calls",
    );
  }
  if (toolCalls > 1 && habits.comparableCalls < toolCalls) {
    unknowns.push(
      habits.comparableCalls === 0
        ? "repeated calls are unknown: inputs are not kept"
        : `repeated calls are known for ${habits.comparableCalls} of ${plural(toolCalls, "tool call")}`,
    );
  }
  if (time !== undefined && time.measuredTools < toolCalls && time.parts.tool > 0) {
    unknowns.push(
      time.measuredTools === 0
        ? "tool time includes waiting for permission: the agent does not report it separately"
        : `waiting for permission is reported for ${time.measuredTools} of ${plural(toolCalls, "tool call")}`,
    );
  }
  return unknowns;
}
