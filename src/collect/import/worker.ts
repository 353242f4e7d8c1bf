import { parentPort, workerData } from "node:worker_threads";
import { allAgents } from "#agents/registry.ts";
import { protectionOf } from "#core/privacy/protection.ts";
import { messageOf } from "#kit/errors.ts";
import type { ReadResult } from "./read.ts";
import { claim, type ReaderData, type ReadRequest, type ReadResponse, readSessions } from "./readers.ts";

// A thread that reads sessions one after the other.

const { redaction, home, startedRequests } = workerData as ReaderData;
const protection = protectionOf(redaction, home);
const cards = allAgents();
let queue: Promise<void> = Promise.resolve();

parentPort?.on("message", (request: ReadRequest) => {
  queue = queue.then(() => handleRequest(request));
});

// --- internal ---

async function handleRequest({ number, tasks }: ReadRequest): Promise<void> {
  if (!claim(startedRequests, number)) return;
  try {
    const known = await cards;
    const agentOf = (source: string) => known.find((card) => card.source === source);
    const results = await readSessions(tasks, agentOf, await protection);
    send({ number, results }, results.flatMap(ownBuffers));
  } catch (error) {
    send({ number, error: messageOf(error) });
  }
}

const send = (answer: ReadResponse, moved: readonly ArrayBuffer[] = []): void =>
  parentPort?.postMessage(answer, [...moved]);

/** Memory blocks that can be transferred without a copy. */
const ownBuffers = ({ session }: ReadResult): readonly ArrayBuffer[] =>
  session === undefined
    ? []
    : [session.packed.owned, session.packed.calls, session.packed.facts].flatMap((block) =>
        typeof block !== "string" && block.buffer instanceof ArrayBuffer && block.buffer.byteLength === block.byteLength
          ? [block.buffer]
          : [],
      );
