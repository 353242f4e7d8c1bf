import type { FactOf } from "#core/model/fact-sink.ts";
import { asCount, asObject } from "./json.ts";

/** What an answer cost besides tokens, from its usage as Anthropic writes it. Fetching pages and searching tools are free. */
export function feesOf(
  usage: Readonly<Record<string, unknown>> | undefined,
): Pick<FactOf<"model_call">, "webSearches" | "hasOtherFees"> {
  const uses = asObject(usage?.["server_tool_use"]);
  if (uses === undefined) return NONE;
  const { web_search_requests: searches, ...others } = uses;
  const hasOthers = Object.entries(others).some(([name, uses]) => !FREE.has(name) && (asCount(uses) ?? 0) > 0);
  return { webSearches: asCount(searches) || undefined, hasOtherFees: hasOthers ? true : undefined };
}

// --- internal ---

const NONE = { webSearches: undefined, hasOtherFees: undefined };

const FREE: ReadonlySet<string> = new Set(["web_fetch_requests", "tool_search_requests"]);
