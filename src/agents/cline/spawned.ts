import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { asArray, asCount, asObject, asString } from "../shared/payload/json.ts";
import { elementsOf } from "../shared/transcript/elements.ts";
import { type Message, typedText } from "./messages.ts";
import { MESSAGES_ENDING } from "./places.ts";

/**
 * The call that started a subagent. No record contains both ids, but the call's input and the subagent's first message contain
 * the same task. If several tasks are equal, the earlier call started the earlier subagent.
 *
 * @param path the subagent's messages
 * @returns `undefined` if no call in this session has that task
 */
export async function parentCallOf(path: string, roots: readonly string[] | undefined): Promise<string | undefined> {
  const folder = dirname(path);
  const names = (await readdir(folder)).filter((name) => name.endsWith(MESSAGES_ENDING)).sort();
  const parts = await Promise.all(names.map((name) => tasksIn(join(folder, name), roots)));
  const own = parts.find((part) => part.name === basename(path));
  if (own?.task === undefined) return undefined;
  const calls = parts.flatMap((part) => part.calls).filter((call) => call.task === own.task);
  const started = parts.filter((part) => part.task === own.task);
  const unmatched = [...calls].sort((a, b) => a.timeMs - b.timeMs);
  for (const part of started.sort((a, b) => a.timeMs - b.timeMs || (a.name < b.name ? -1 : 1))) {
    const at = unmatched.findIndex((call) => call.timeMs <= part.timeMs && call.name !== part.name);
    const [call] = at === -1 ? [] : unmatched.splice(at, 1);
    if (part === own) return call?.callId;
  }
  return undefined;
}

// --- internal ---

interface Part {
  readonly name: string;
  readonly timeMs: number;
  /** The first message; for a subagent its task. */
  readonly task: string | undefined;
  readonly calls: readonly Spawn[];
}

interface Spawn {
  readonly callId: string;
  readonly task: string;
  readonly timeMs: number;
  /** The file that contains it. */
  readonly name: string;
}

/** The task of one agent, and the tasks that it gave to subagents. */
async function tasksIn(path: string, roots: readonly string[] | undefined): Promise<Part> {
  const name = basename(path);
  const calls: Spawn[] = [];
  let first: { readonly task: string | undefined; readonly timeMs: number } | undefined;
  try {
    for await (const element of elementsOf(path, "messages", { roots })) {
      if (element === undefined || (first !== undefined && !element.includes(SPAWN_TOOL))) continue;
      const message = asObject(parse(element));
      if (message === undefined) continue;
      const timeMs = asCount(message["ts"]) ?? 0;
      first ??= { task: typedText(message), timeMs };
      calls.push(...spawnsIn(message, timeMs, name));
    }
  } catch {
    // Removed, or not a regular file
  }
  return { name, calls, task: first?.task, timeMs: first?.timeMs ?? 0 };
}

const SPAWN_TOOL = "spawn_agent";

function spawnsIn(message: Message, timeMs: number, name: string): readonly Spawn[] {
  return asArray(message["content"]).flatMap((value) => {
    const block = asObject(value) ?? {};
    const callId = asString(block["id"]);
    const task = asString(asObject(block["input"])?.["task"]);
    if (block["type"] !== "tool_use" || block["name"] !== SPAWN_TOOL) return [];
    return callId === undefined || task === undefined ? [] : [{ callId, task, timeMs, name }];
  });
}

function parse(element: Buffer): unknown {
  try {
    return JSON.parse(element.toString("utf8"));
  } catch {
    return undefined;
  }
}
