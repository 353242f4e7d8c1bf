// A task that a later version continues, as in github.com/cline/cline, apps/vscode/src/sdk/legacy-task-handling.ts, August 2026,
// read 2026-11-26
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { EntryOf, TokenUsage } from "#core/model/transcript.ts";
import { defined } from "#kit/objects.ts";
import { asCount, asObject, parsedObject } from "../shared/payload/json.ts";
import { elementsOf } from "../shared/transcript/elements.ts";
import { isTaskId } from "./extension.ts";
import type { Message } from "./messages.ts";
import { MESSAGES_ENDING } from "./places.ts";

// The session has the task's id and begins with the task's conversation. A message in the user's name marks its end. The last
// answer before it has the sum over all of the task's calls as its usage.

/** How many messages a session took over from a task, with the mark, and when; `undefined` for other sessions. */
export async function takenOver(
  path: string,
  roots: readonly string[] | undefined,
): Promise<{ readonly length: number; readonly endMs: number } | undefined> {
  if (!isTaskId(basename(path, MESSAGES_ENDING))) return undefined;
  let [place, length] = [0, 0];
  for await (const element of elementsOf(path, "messages", { roots })) {
    place++;
    if (length === 0 && element?.includes(MARK) === true) length = place;
    // Messages that were taken over have no times
    const endMs = length === 0 || element === undefined ? undefined : asCount(parsedObject(element)?.["ts"]);
    if (endMs !== undefined) return { length, endMs };
  }
  return length === 0 ? undefined : { length, endMs: (await stat(path)).mtimeMs };
}

/**
 * The sum over the task's calls, for tasks whose files are gone. With cached tokens its input is unknown: the sum adds them for
 * all providers, also for those that include them in the input.
 */
export function taskSum(message: Message, path: string, endMs: number): readonly EntryOf<"model_call">[] {
  const metrics = asObject(message["metrics"]);
  const count = (name: string): number => asCount(metrics?.[name]) ?? 0;
  const cacheRead = count("cacheReadTokens");
  const isCached = cacheRead + count("cacheWriteTokens") > 0;
  const usage = defined<TokenUsage>({
    input: isCached ? undefined : count("inputTokens") || undefined,
    output: count("outputTokens") || undefined,
    cacheRead: cacheRead || undefined,
  });
  if (Object.keys(usage).length === 0) return [];
  const startMs = Number(basename(path, MESSAGES_ENDING)) - 1;
  return [
    defined<EntryOf<"model_call">>({
      kind: "model_call",
      key: "removed:task",
      timeMs: endMs,
      startMs,
      endMs,
      usage,
      complete: true,
      covers: "removed",
    }),
  ];
}

// --- internal ---

const MARK = "this is a legacy conversation";
