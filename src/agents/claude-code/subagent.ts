import type { EntryOf } from "#core/model/transcript.ts";
import { isSequenceNumber } from "#core/rules/call-ids.ts";
import { defined } from "#kit/objects.ts";
import { asString, parsedObject } from "../shared/payload/json.ts";

export const MAX_META_BYTES = 1 << 20;

/** The file beside a subagent's transcript. */
export const metaPath = (path: string): string => path.replace(/\.jsonl$/, ".meta.json");

/**
 * Reads which call started a subagent, from the file beside its transcript. The file exists from 2.1.197 on.
 *
 * @param meta its content, if it exists
 * @param timeMs time of the subagent's first record
 */
export function subagentEntry(agentId: string, meta: Buffer | undefined, timeMs: number): EntryOf<"subagent"> {
  const about = parsedObject(meta ?? "{}") ?? {};
  const started = asString(about["toolUseId"]);
  const isCounted = started !== undefined && isSequenceNumber(started);
  return defined<EntryOf<"subagent">>({
    kind: "subagent",
    key: `subagent:${agentId}`,
    timeMs,
    globalKey: undefined,
    promptKey: undefined,
    agentId,
    agentType: asString(about["agentType"]),
    parentCallId: isCounted ? undefined : started,
    parentGivenId: isCounted ? started : undefined,
    parentAgentId: asString(about["parentAgentId"]),
  });
}
