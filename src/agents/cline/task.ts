// One task of the editor extension; files and their meaning in README.md
import { dirname, join } from "node:path";
import type { ContentUpdate } from "#core/model/content.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptBatch, TranscriptFile } from "#core/model/transcript-reader.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { defined } from "#kit/objects.ts";
import { openRegular, readSmall } from "#kit/open.ts";
import { answerPiece, contentOf } from "../shared/payload/content.ts";
import { asCount, asString, parsedObject } from "../shared/payload/json.ts";
import { elementsOf } from "../shared/transcript/elements.ts";
import { API_FILE, METADATA_FILE, WRITEBACK_FILE } from "./extension.ts";
import type { Message } from "./messages.ts";
import { TaskMessages } from "./task-messages.ts";
import { readModels, type TaskModels } from "./task-metadata.ts";
import { Answers } from "./task-tools.ts";

/** A task's file, with the files whose changes also require reading it again. */
export const taskPart = (path: string): TranscriptFile => ({ path, watch: [path, join(dirname(path), API_FILE)] });

/** The extension rewrites its files for each message: all entries come again, under the same keys. */
export async function* readTask(
  { path, roots }: TranscriptFile,
  options: ReadOptions,
): AsyncGenerator<TranscriptBatch> {
  const folder = dirname(path);
  const models = await readModels(join(folder, METADATA_FILE), roots);
  const { answers, unreadable: unreadableAnswers } = await readAnswers(join(folder, API_FILE), roots, options);
  const isLaterVersions = await writtenBack(path, roots);
  const messages = new TaskMessages(answers.all, models);
  let entries: TranscriptEntry[] = [];
  let content: ContentUpdate[] = [];
  let [unreadable, records, index] = [unreadableAnswers, 0, -1];
  let [firstMs, lastMs]: [number | undefined, number] = [undefined, 0];
  for await (const element of elementsOf(path, undefined, { roots })) {
    index++;
    const message = element === undefined ? undefined : parsedObject(element);
    const ts = asCount(message?.["ts"]);
    if (message === undefined || ts === undefined) {
      unreadable++;
      continue;
    }
    if (isLaterVersions(index)) continue;
    if (firstMs === undefined) entries.push(...sessionEntry(ts, answers.cwd, models));
    firstMs ??= ts;
    records++;
    lastMs = Math.max(lastMs, ts);
    const added = messages.add(message);
    entries.push(...added);
    if (options.content === true) content.push(...taskContent(added, messages, message));
    if (entries.length < BATCH_ENTRIES) continue;
    yield { entries, content, next: INITIAL_OFFSET, unreadable, records };
    [entries, content] = [[], []];
    [unreadable, records] = [0, 0];
  }
  const rest = messages.end();
  entries.push(...rest, ...models.reported(lastMs));
  if (options.content === true) content.push(...taskContent(rest, messages, {}));
  if (index === -1 && (await isFilled(path, roots))) unreadable++;
  yield { entries, content, next: INITIAL_OFFSET, unreadable, records };
}

// --- internal ---

// Enough to share a commit, few enough to hold in memory
const BATCH_ENTRIES = 500;

function sessionEntry(
  timeMs: number,
  cwd: string | undefined,
  { agentVersion }: TaskModels,
): readonly EntryOf<"session">[] {
  if (cwd === undefined && agentVersion === undefined) return [];
  const facts = defined<{ agentVersion: string; cwd: string }>({ agentVersion, cwd });
  return [{ kind: "session", key: `session:${JSON.stringify(facts)}`, timeMs, ...facts }];
}

/** What was sent to the model. A task can lack it; if it must not be read, the task's figures still count. */
async function readAnswers(path: string, roots: TranscriptFile["roots"], { content }: ReadOptions) {
  const answers = new Answers();
  let unreadable = 0;
  try {
    for await (const element of elementsOf(path, undefined, { roots })) {
      const message = element === undefined ? undefined : parsedObject(element);
      if (message === undefined) {
        answers.skip();
        unreadable++;
      } else answers.add(message, content === true);
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) unreadable++;
  }
  return { answers, unreadable };
}

/**
 * Later versions of the extension continue a task as a session of the CLI's kind and copy what they added to the task, with new
 * times at each writing. The session itself is read; the copy is left out.
 *
 * @returns whether the message at a place is part of that copy
 */
async function writtenBack(path: string, roots: TranscriptFile["roots"]): Promise<(index: number) => boolean> {
  const file = await readSmall(join(dirname(path), WRITEBACK_FILE), MAX_STATE_BYTES, roots);
  const state = file === undefined ? undefined : parsedObject(file.bytes);
  const [from, to] = [asCount(state?.["baseUiMessageCount"]), asCount(state?.["writtenUiMessageCount"])];
  if (from === undefined || to === undefined || to <= from) return () => false;
  // The copy has times that follow each other by one millisecond. Anything else was written there by an earlier version that
  // the user went back to.
  let [index, firstMs, isCopy] = [-1, 0, true];
  for await (const element of elementsOf(path, undefined, { roots })) {
    index++;
    if (index < from || index >= to) continue;
    const ts = asCount(element === undefined ? undefined : parsedObject(element)?.["ts"]);
    if (index === from) firstMs = ts ?? 0;
    isCopy &&= ts === firstMs + index - from;
  }
  return (place) => isCopy && place >= from && place < to;
}
const MAX_STATE_BYTES = 65_536;

async function isFilled(path: string, roots: TranscriptFile["roots"]): Promise<boolean> {
  const { file, stats } = await openRegular(path, roots);
  await file.close();
  // An empty array is a task that has not begun
  return stats.size > 4;
}

/** Content of the entries that a message completed. */
function taskContent(
  entries: readonly TranscriptEntry[],
  { answerOf, toolOf }: TaskMessages,
  message: Message,
): readonly ContentUpdate[] {
  return entries.flatMap((entry): readonly ContentUpdate[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", asString(message["text"]));
      case "model_call": {
        const answer = answerOf.get(entry.key);
        const calls = (answer?.tools ?? []).flatMap(({ givenId, name }) =>
          givenId === undefined ? [] : answerPiece(entry.key, toolCallPart(givenId, name)),
        );
        return [...(answer?.text === undefined ? [] : answerPiece(entry.key, answer.text)), ...calls];
      }
      case "tool_use":
        return contentOf(entry.key, "arguments", toolOf.get(entry.callId)?.input);
      case "tool_result":
        return contentOf(entry.key, "result", toolOf.get(entry.callId)?.result?.text);
      default:
        return [];
    }
  });
}
