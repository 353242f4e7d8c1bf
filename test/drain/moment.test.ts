// A disk or a database that fails for a moment while a drain reads the parts of a transcript
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Agent } from "#core/model/agent.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptQuery, TranscriptReader } from "#core/model/transcript-reader.ts";
import { ACME, InboxFixture } from "../support/inbox-fixture.ts";

let inbox: InboxFixture;
beforeEach(() => {
  inbox = new InboxFixture();
});
afterEach(() => inbox.remove());

const eioAt = (path: string): Error => Object.assign(new Error(`EIO: i/o error, scandir '${path}'`), { code: "EIO" });

/** A transcript whose parts are found from the n-th attempt on. @returns the agent, and the parts that were read */
function failing(times: number, fail: (query: TranscriptQuery, folder: string) => void) {
  const { home } = inbox.places;
  const main = join(home, "main");
  writeFileSync(main, "");
  const read: string[] = [];
  let attempts = 0;
  const reader: TranscriptReader = {
    roots: () => [home],
    locate: async function* () {},
    files: async (query) => {
      if (++attempts <= times) fail(query, join(home, "subagents"));
      return [{ path: main }];
    },
    read: async function* ({ path }) {
      read.push(path);
      yield { entries: [], next: INITIAL_OFFSET, unreadable: 0 };
    },
  };
  const agent: Agent = { ...ACME, tokens: "transcript", transcript: async () => ({ default: reader }) };
  return { agent, read };
}

const START_EVENT = { openhook: "0.1", id: "e1", source: "acme", type: "session.start", session_id: "s", data: {} };
const putEvent = (): void =>
  inbox.put({ events: [{ ...START_EVENT, time: new Date().toISOString(), extensions: {} }] });

test.each([
  ["a folder", (query: TranscriptQuery, folder: string) => query.onProblem?.(folder, eioAt(folder))],
  [
    "everything",
    (_query: TranscriptQuery, folder: string) => {
      throw eioAt(folder);
    },
  ],
])("%s cannot be read once: it is retried, and nothing is reported", async (_what, fail) => {
  const { agent, read } = failing(1, fail);
  putEvent();
  const { problems } = await inbox.drain({}, [agent]);
  expect({ problems, read: read.length }).toEqual({ problems: [], read: 1 });
});

test("a folder that can never be read: reported once, the rest is read", async () => {
  const { agent, read } = failing(99, (query, folder) => query.onProblem?.(folder, eioAt(folder)));
  putEvent();
  const { problems } = await inbox.drain({}, [agent]);
  expect(problems).toEqual([expect.stringMatching(/^could not read the transcript "\S+subagents": EIO/)]);
  expect(read).toHaveLength(1);
});
