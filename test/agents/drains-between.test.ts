// Whenever drains run, and however long somebody waits in between: the books are those of one drain at the end.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "../../src/agents/registry.ts";
import type { Agent } from "../../src/model/agent.ts";
import { booksOfAll } from "../faults/load.ts";
import { clockAt } from "../support/clock.ts";
import { CASES, type RecordedCall, Replay } from "../support/replay.ts";
import { firstRecordings } from "../support/whole.ts";

const HOUR_MS = 3_600_000;
const agents = await allAgents();
const cases = agents.flatMap((agent) => {
  const folder = join(CASES, agent.source);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => existsSync(join(folder, name, "expected.json")))
    .map((name) => ({ agent, source: agent.source, name, calls: callsOf(agent.source, name) }));
});

let replay: Replay | undefined;
afterEach(() => replay?.remove());

describe.each(firstRecordings(cases))("$source $name", ({ agent, source, name, calls }) => {
  // What a transcript says would mend what was settled too early
  test("hooks alone, a drain after every one of them", { timeout: 60_000 }, async () => {
    const books = async (isEach: boolean) => {
      replay = new Replay(source, name, { withTranscripts: false });
      for (const call of replay.calls) {
        replay.put(call);
        if (isEach) await replay.drain({}, clockAt(msOf(call)));
      }
      await replay.drain({ endIdle: true });
      return takeBooks(replay);
    };
    expect(await books(true)).toEqual(await books(false));
  });

  const ends = calls.flatMap((call, index) => (index > 0 && isToolEnd(agent, call) ? [index] : []));
  const isWritten = existsSync(join(CASES, source, name, "transcripts"));
  test.each([...new Set([ends.slice(0, 1), ends.slice(-1)].flat())])(
    "given up before call %i ended and gone on with an hour later: no call is told twice",
    { timeout: 60_000 },
    async (at) => {
      const beforeMs = msOf(calls[at - 1]);
      const books = async (isGivenUp: boolean) => {
        const edit = laterFrom(Math.min(beforeMs + 1, msOf(calls[at])));
        replay = new Replay(source, name, { withTranscripts: false, edit });
        for (const [index, call] of replay.calls.entries()) {
          if (index === at && isGivenUp) {
            if (isWritten) replay.writeTranscripts({ untilMs: beforeMs });
            await replay.drain({}, clockAt(beforeMs));
            await replay.drain({}, clockAt(beforeMs + HOUR_MS - 60_000));
          }
          replay.put(call);
        }
        if (isWritten) replay.writeTranscripts();
        await replay.drain({ endIdle: true }, clockAt(msOf(replay.calls.at(-1)) + 1_000));
        return takeBooks(replay).map(withoutStates);
      };
      expect(await books(true)).toEqual(await books(false));
    },
  );
});

function callsOf(source: string, name: string): readonly RecordedCall[] {
  const recorded = new Replay(source, name, { withTranscripts: false });
  recorded.remove();
  return recorded.calls;
}

const msOf = (call: RecordedCall | undefined): number => Date.parse(call?.received_at ?? "");

function isToolEnd(agent: Agent, { stdin, event, env }: RecordedCall): boolean {
  if (stdin === undefined) return false;
  const intake = { source: agent.source, event, timeMs: 0, env: { HOME: "/home/dev", ...env } };
  return agent
    .toEvents(stdin, { ...intake, payloadBytes: 0, truncated: false })
    .some(({ type }) => type === "tool.end");
}

type Books = readonly (readonly [string, { readonly tools: readonly string[] }])[];

function takeBooks(from: Replay): Books {
  const books = [...booksOfAll(from.places.storePath)] as Books;
  from.remove();
  return books;
}

/** What was told once stays as it was told: one that was given up is unfinished for ever. */
function withoutStates([session, books]: Books[number]) {
  const tools = books.tools.map((text) => {
    const { name, subagent } = JSON.parse(text) as { readonly name: string; readonly subagent: boolean };
    return `${name} ${subagent}`;
  });
  return [session, { ...books, tools: tools.sort() }];
}

/** Texts with all times of the day from one on an hour later. */
const laterFrom = (fromMs: number) => (text: string) => {
  const later = (ms: number): number => (ms >= fromMs && ms - fromMs < 24 * HOUR_MS ? ms + HOUR_MS : ms);
  return text
    .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) =>
      new Date(later(Date.parse(time))).toISOString(),
    )
    .replaceAll(/(?<![\w.-])1[78]\d{11}(?![\w.-])/g, (ms) => String(later(Number(ms))));
};
