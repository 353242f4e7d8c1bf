// A session's folder as written by 3.0.3: CURRENT names a generation, which has the session's sums and lists of chunks
import { join } from "node:path";
import type { TokenUsage } from "#core/model/transcript.ts";
import { readSmallSync } from "#kit/open.ts";
import { asArray, asCount, asObject, asString, type Fields, parsedObject, parsedText } from "../shared/payload/json.ts";
import { fieldsIn } from "./journal-state.ts";

/** What the agent keeps of a session's deleted journals. */
export interface Snapshot {
  readonly generation: string;
  /** The last journal line that it includes. */
  readonly sequence: number;
  readonly createdMs: number;
  readonly updatedMs: number;
  /** Sum over all calls until then; `undefined` before the first turn's end. */
  readonly usage: TokenUsage | undefined;
  /** The turn that ended last, or runs. */
  readonly turn: Fields;
  readonly parentId: string | undefined;
  readonly rootId: string | undefined;
}

/** The current snapshot of a session's folder; `undefined` if there is none. */
export function readSnapshot(folder: string, roots: readonly string[] | undefined): Snapshot | undefined {
  const current = objectIn(join(folder, "CURRENT"), roots);
  const generation = asString(current?.["generation"]);
  if (generation === undefined || !isGeneration(generation)) return undefined;
  const state = objectIn(join(folder, GENERATIONS, generation, "projection-state.json"), roots);
  const shown = fieldsIn(state, "snapshot");
  const session = fieldsIn(shown, "session");
  const createdMs = asCount(session["createdAt"]);
  if (createdMs === undefined) return undefined;
  return {
    generation,
    sequence: asCount(state?.["snapshot_sequence"]) ?? asCount(current?.["snapshot_sequence"]) ?? 0,
    createdMs,
    updatedMs: asCount(session["updatedAt"]) ?? createdMs,
    usage: usageOf(asObject(session["tokenUsage"])),
    turn: fieldsIn(shown, "latestTurn"),
    parentId: asString(session["parentSessionId"]),
    rootId: asString(session["rootSessionId"]),
  };
}

/** What the user saw, and what the model knows, both oldest first. */
export function readLists(folder: string, generation: string, roots: readonly string[] | undefined): Lists {
  const inGeneration = (name: string) => objectIn(join(folder, GENERATIONS, generation, name), roots);
  const manifest = inGeneration("manifest.json");
  const list = (part: string, rest: unknown): readonly Fields[] => {
    const chunks = asArray(fieldsIn(manifest, part)["chunks"]).flatMap((id) =>
      typeof id === "string" && CHUNK_ID.test(id) ? listIn(join(folder, "chunks", `${id}.json`), roots) : [],
    );
    return [...chunks, ...asArray(rest)].map((one) => asObject(one) ?? {});
  };
  const shown = fieldsIn(fieldsIn(inGeneration("projection-state.json"), "snapshot"), "history");
  const known = fieldsIn(inGeneration("checkpoint.json"), "context");
  return { shown: list("projection_state", shown["entries"]), known: list("checkpoint", known["messages"]) };
}

export interface Lists {
  readonly shown: readonly Fields[];
  readonly known: readonly Fields[];
}

/** The action of the parent that started a subagent. */
export function spawnActionOf(folder: string, generation: string, roots: readonly string[] | undefined) {
  const state = objectIn(join(folder, GENERATIONS, generation, "runtime-state.json"), roots);
  return asString(fieldsIn(state, "session_metadata")["subagent_spawn_key"]);
}

/** The object in a file of a session's folder; `undefined` if there is none. */
export function objectIn(path: string, roots: readonly string[] | undefined): Fields | undefined {
  const bytes = readSmallSync(path, MAX_BYTES, roots);
  return bytes === undefined ? undefined : parsedObject(bytes);
}

// --- internal ---

const GENERATIONS = "generations";
const MAX_BYTES = 64 << 20;
const CHUNK_ID = /^[0-9a-f]{64}$/;
const isGeneration = (name: string): boolean => /^\d{1,32}$/.test(name);

function listIn(path: string, roots: readonly string[] | undefined): readonly unknown[] {
  const bytes = readSmallSync(path, MAX_BYTES, roots);
  return bytes === undefined ? [] : asArray(parsedText(bytes));
}

/** The sum includes no reasoning. */
function usageOf(usage: Fields | undefined): TokenUsage | undefined {
  const [input, output] = [asCount(usage?.["inputTokens"]), asCount(usage?.["outputTokens"])];
  if (input === undefined && output === undefined) return undefined;
  return { input, output, cacheRead: asCount(usage?.["cachedInputTokens"]) };
}
