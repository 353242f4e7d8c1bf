import { createHash } from "node:crypto";
import type { FactSink } from "../../../model/fact-sink.ts";
import { usagesIn } from "../../../model/usage-shapes.ts";
import { asObject, asString, asTimeMs, parsedObject } from "../payload/json.ts";
import type { JsonLine } from "./json-line.ts";

/**
 * Passes on that a record of an unknown kind has token usage. What it means is unknown: a request, or a sum of others. So it counts as
 * usage whose figures are unknown, and not as a call: sums that include it are lower bounds.
 *
 * @param state of the reader, which may have the prompt
 * @returns false if the record has no usage
 */
export function putUnreadUsage(line: JsonLine, state: object, modifiedMs: number, sink: FactSink): boolean {
  const record = parsedObject(line.text());
  if (record === undefined || usagesIn(record).length === 0) return false;
  const { promptKey, timeMs: lastMs } = state as { readonly promptKey?: unknown; readonly timeMs?: unknown };
  const payload = asObject(record["payload"]) ?? asObject(record["message"]);
  const named = [record["timestamp"], record["time"], record["ts"], payload?.["timestamp"]].map(asTimeMs);
  const timeMs = named.find((ms) => ms !== undefined) ?? (typeof lastMs === "number" ? lastMs : modifiedMs);
  const key = `unread:${createHash("sha256").update(line.bytes).digest("hex").slice(0, 16)}`;
  sink.modelCall(
    { key, globalKey: key, timeMs, promptKey: asString(promptKey) },
    { endMs: timeMs, complete: false, covers: "turn" },
  );
  return true;
}
