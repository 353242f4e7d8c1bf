import { setImmediate } from "node:timers/promises";
import PQueue from "p-queue";
import type { Found } from "./find.ts";
import type { ReadResult } from "./read.ts";
import type { Readers } from "./readers.ts";

/** Reads several groups at a time and yields results in order: a copy comes after its original. */
export async function* inOrder(
  tasks: readonly Found[],
  readers: Readers,
  signal: AbortSignal,
): AsyncGenerator<{ readonly item: Found; readonly result: ReadResult | Error }> {
  const queue = new PQueue({ concurrency: readers.concurrency });
  const groups = groupsOf(tasks);
  const requestedGroups: Requested[] = [];
  let requestedBytes = 0;
  const requestMore = (): void => {
    while (
      requestedGroups.length < readers.concurrency &&
      (requestedGroups.length < 2 || requestedBytes < BYTES_AHEAD)
    ) {
      const group = groups.next().value;
      if (group === undefined) return;
      const answer = queue
        .add(() => readers.read(group.tasks))
        .catch((error: unknown) => group.tasks.map(() => (error instanceof Error ? error : new Error(String(error)))));
      const requested: Requested = { group, answer, isDone: false };
      answer.finally(() => {
        requested.isDone = true;
      });
      requestedGroups.push(requested);
      requestedBytes += group.bytes;
    }
  };
  // A large session delays the next ones, so these are read ahead up to a limit
  requestMore();
  try {
    for (let first = requestedGroups.shift(); first !== undefined; first = requestedGroups.shift()) {
      const { group, answer } = first;
      // Instead of waiting, read what no thread has started; messages are handled in between
      while (!first.isDone && !signal.aborted && (await readers.readUnstarted?.()) === true) await setImmediate();
      const results = await answer;
      requestedBytes -= group.bytes;
      requestMore();
      for (const [i, result] of results.entries()) {
        const item = group.tasks[i];
        if (item === undefined || signal.aborted) return;
        yield { item, result };
      }
    }
  } finally {
    queue.clear();
  }
}

// --- internal ---

/** How far threads may read ahead: their results are held in memory. */
const BYTES_AHEAD = 512 << 20;
/** Size of a group: small enough that threads finish at about the same time. */
const GROUP_BYTES = 4 << 20;
const GROUP_SESSIONS = 32;

/** A group that was requested from a reader. */
interface Requested {
  readonly group: Group;
  readonly answer: Promise<readonly (ReadResult | Error)[]>;
  isDone: boolean;
}

interface Group {
  readonly tasks: readonly Found[];
  readonly bytes: number;
}

/** Groups of sessions, in order: most sessions are small, and a message to a thread has a cost. */
function* groupsOf(tasks: readonly Found[]): Generator<Group, undefined> {
  let [group, bytes]: [Found[], number] = [[], 0];
  for (const task of tasks) {
    group.push(task);
    bytes += task.bytes;
    if (bytes < GROUP_BYTES && group.length < GROUP_SESSIONS) continue;
    yield { tasks: group, bytes };
    [group, bytes] = [[], 0];
  }
  if (group.length > 0) yield { tasks: group, bytes };
}
