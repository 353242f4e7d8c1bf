import { parentPort, workerData } from "node:worker_threads";
import { allAgents } from "../agents/registry.ts";
import { messageOf } from "../drain/deps.ts";
import { protectionOf } from "../privacy/protection.ts";
import { type ReadResult, readSession } from "./read.ts";
import type { Answer, Question, ReaderSettings } from "./readers.ts";

// A thread that reads sessions, one after the other.

const { redaction, home } = workerData as ReaderSettings;
const protection = protectionOf(redaction, home);
const cards = allAgents();
let last: Promise<void> = Promise.resolve();

parentPort?.on("message", (question: Question) => {
  last = last.then(() => answer(question));
});

// --- internal ---

async function answer({ number, task }: Question): Promise<void> {
  try {
    const agent = (await cards).find(({ source }) => source === task.source);
    if (agent === undefined) throw new Error(`no agent is called ${JSON.stringify(task.source)}`);
    const result = await readSession(task, agent, (await protection).redact, true);
    send({ number, result }, ownBuffers(result));
  } catch (error) {
    send({ number, error: messageOf(error) });
  }
}

const send = (answer: Answer, moved: readonly ArrayBuffer[] = []): void => parentPort?.postMessage(answer, [...moved]);

/** Memory that nobody else uses can go over without a copy. */
const ownBuffers = ({ session }: ReadResult): readonly ArrayBuffer[] =>
  session === undefined
    ? []
    : [session.packed.owned, session.packed.calls, session.packed.facts].flatMap((block) =>
        typeof block !== "string" && block.buffer instanceof ArrayBuffer && block.buffer.byteLength === block.byteLength
          ? [block.buffer]
          : [],
      );
