// Layout as written by 2.1.0, recorded 2026-11-25; token rule in README.md beside this file
import { closeSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Content } from "#core/model/content.ts";
import type { Offset, TranscriptEntry } from "#core/model/transcript.ts";
import type { ReadOptions, TranscriptBatch, TranscriptFile, TranscriptReader } from "#core/model/transcript-reader.ts";
import { hasGivenId } from "#core/rules/call-ids.ts";
import { toolCallPart } from "#core/rules/keys.ts";
import { openRegularSync, readSmall } from "#kit/open.ts";
import { answerPiece, contentOf, plainText } from "../shared/payload/content.ts";
import { asObject, asString, parsedObject } from "../shared/payload/json.ts";
import { type LineRules, readLines } from "../shared/transcript/read-lines.ts";
import { type WireState, wireState } from "./line-context.ts";
import { KINDS, loopEvent, readLine } from "./lines.ts";
import { files, locate, roots, STATE_FILE, sessionFolder } from "./places.ts";

export default { roots, locate, files, read } satisfies TranscriptReader;

function read(file: TranscriptFile, from: Offset, options: ReadOptions = {}): AsyncGenerator<TranscriptBatch> {
  const rules: LineRules<WireState> = {
    kinds: KINDS,
    state: wireState,
    read: (line, state, sink) => readLine(line, state, sink, file.agentId),
    content: lineContent,
    begin: async (state, isFresh) => (isFresh && file.agentId === undefined ? sessionOf(file, state) : []),
  };
  return readLines(file, from.bytes === 0 ? { bytes: ownStart(file), memo: {} } : from, options, rules);
}

// --- internal ---

const CHUNK_BYTES = 1 << 20;
const FORKED = Buffer.from('{"type":"forked"');
const NEWLINE = 0x0a;
const MAX_STATE_BYTES = 1 << 20;

/** Where a file's own lines begin: a fork starts with copies, and its last line `forked` ends them. They count in the original. */
function ownStart(file: TranscriptFile): number {
  const { fd } = openRegularSync(file.path, file.roots);
  try {
    let start = 0;
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    // Chunks overlap, so that a mark on their edge is found
    for (let position = 0; ; position += CHUNK_BYTES - FORKED.length) {
      const bytes = readSync(fd, chunk, 0, CHUNK_BYTES, position);
      const read = chunk.subarray(0, bytes);
      for (let at = read.indexOf(FORKED); at !== -1; at = read.indexOf(FORKED, at + 1)) {
        const isLine = position + at === 0 || (at > 0 && read[at - 1] === NEWLINE);
        if (isLine) start = position + at;
      }
      if (bytes < CHUNK_BYTES) return start;
    }
  } finally {
    closeSync(fd);
  }
}

/** The session's folder, which only the file beside the agents' folders has. */
async function sessionOf(file: TranscriptFile, { timeMs }: WireState): Promise<readonly TranscriptEntry[]> {
  const state = await readSmall(join(sessionFolder(file.path), STATE_FILE), MAX_STATE_BYTES, file.roots);
  const cwd = asString(parsedObject(state?.bytes ?? "{}")?.["cwd"]);
  return cwd === undefined ? [] : [{ kind: "session", key: "session", timeMs, cwd }];
}

/** Content of a line, for the entries that were read from it and for the current answer. Thoughts are left out. */
function lineContent(line: Buffer, entries: readonly TranscriptEntry[], { answer }: WireState): readonly Content[] {
  const o = parsedObject(line) ?? {};
  const event = loopEvent(o);
  if (event["type"] === "content.part") {
    const part = asObject(event["part"]);
    return answer === undefined || part?.["type"] !== "text" ? [] : answerPiece(answer.place.key, part["text"]);
  }
  return entries.flatMap((entry): readonly Content[] => {
    switch (entry.kind) {
      case "prompt":
        return contentOf(entry.key, "prompt", plainText(o["input"]));
      case "model_call": {
        const [id, name] = [asString(event["toolCallId"]), asString(event["name"])];
        return id === undefined || name === undefined ? [] : answerPiece(entry.key, toolCallPart(id, name));
      }
      case "tool_use":
        return hasGivenId(entry.callId, String(event["toolCallId"]))
          ? contentOf(entry.key, "arguments", event["args"])
          : [];
      case "tool_result":
        return contentOf(entry.key, "result", asObject(event["result"])?.["output"]);
      default:
        return [];
    }
  });
}
