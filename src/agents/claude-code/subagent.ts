import { defined } from "../../model/defined.ts";
import type { EntryOf } from "../../model/transcript.ts";
import { isBareCount } from "../shared/payload/call-ids.ts";
import { asString, parsedObject } from "../shared/payload/json.ts";

export const MAX_META_BYTES = 1 << 20;

/** Beside a subagent's transcript. */
export const metaPath = (path: string): string => path.replace(/\.jsonl$/, ".meta.json");

/**
 * The file beside a subagent's transcript says which call started it; absent before 2.1.197.
 *
 * @param meta what stands in it, where there is one
 * @param timeMs of the first thing that the subagent did
 */
export function subagentEntry(agentId: string, meta: Buffer | undefined, timeMs: number): EntryOf<"subagent"> {
  const told = parsedObject(meta ?? "{}") ?? {};
  const started = asString(told["toolUseId"]);
  const isCounted = started !== undefined && isBareCount(started);
  return defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${agentId}`,
    timeMs,
    globalKey: undefined,
    promptKey: undefined,
    agentId,
    agentType: asString(told["agentType"]),
    parentCallId: isCounted ? undefined : started,
    parentGivenId: isCounted ? started : undefined,
    parentAgentId: asString(told["parentAgentId"]),
  });
}
