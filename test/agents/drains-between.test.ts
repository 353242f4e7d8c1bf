// The result does not depend on when drains run: it equals that of one drain at the end.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import type { Agent } from "#core/model/agent.ts";
import { contentsOf } from "../faults/load.ts";
import { clockAt } from "../support/clock.ts";
import { CASES, type RecordedCall, Replay } from "../support/replay.ts";
import { firstOf, firstRecordings } from "../support/whole.ts";

const HOUR_MS = 3_600_000;
/** Plugins report up to 250 events in a session. With fewer drains than hooks, each recording has them at other places. */
const MAX_DRAINS = 8;
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

describe.each(firstOf(firstRecordings(cases), 2))("$source $name", ({ agent, source, name, calls }) => {
  // Without transcripts, which would correct calls that were settled too early
  test("hooks only: drains after the hooks give the result of one drain at the end", async () => {
    const totals = async (isEach: boolean) => {
      replay = new Replay(source, name, { withTranscripts: false });
      const step = Math.ceil(replay.calls.length / MAX_DRAINS);
      for (const [index, call] of replay.calls.entries()) {
        replay.put(call);
        if (isEach && (index + name.length) % step === 0) await replay.drain({}, clockAt(msOf(call)));
      }
      await replay.drain({ endIdle: true });
      return takeTotals(replay);
    };
    expect(await totals(true)).toEqual(await totals(false));
  });

  const ends = calls.flatMap((call, index) => (index > 0 && isToolEnd(agent, call) ? [index] : []));
  const isWritten = existsSync(join(CASES, source, name, "transcripts"));
  // One place is enough for each recording: half of them time out before the first call has ended, the others before the last one
  test.each(name.length % 2 === 0 ? ends.slice(0, 1) : ends.slice(-1))(
    "timed out before call %i ended and resumed an hour later: no call is reported twice",
    async (at) => {
      const beforeMs = msOf(calls[at - 1]);
      const totals = async (isTimedOut: boolean) => {
        const edit = laterFrom(Math.min(beforeMs + 1, msOf(calls[at])));
        replay = new Replay(source, name, { withTranscripts: false, edit });
        for (const [index, call] of replay.calls.entries()) {
          if (index === at && isTimedOut) {
            if (isWritten) replay.writeTranscripts({ untilMs: beforeMs });
            await replay.drain({}, clockAt(beforeMs));
            await replay.drain({}, clockAt(beforeMs + HOUR_MS - 60_000));
          }
          replay.put(call);
        }
        if (isWritten) replay.writeTranscripts();
        await replay.drain({ endIdle: true }, clockAt(msOf(replay.calls.at(-1)) + 1_000));
        return takeTotals(replay).map(withoutStates);
      };
      expect(await totals(true)).toEqual(await totals(false));
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

type Totals = readonly (readonly [string, { readonly tools: readonly string[] }])[];

function takeTotals(from: Replay): Totals {
  const totals = [...contentsOf(from.places.storePath)] as Totals;
  from.remove();
  return totals;
}

/** Ignores the state of tool calls: a call reported as unfinished after a timeout stays unfinished. */
function withoutStates([session, totals]: Totals[number]) {
  const tools = totals.tools.map((text) => {
    const { name, subagent } = JSON.parse(text) as { readonly name: string; readonly subagent: boolean };
    return `${name} ${subagent}`;
  });
  return [session, { ...totals, tools: tools.sort() }];
}

/** Moves all times of the day after `fromMs` by one hour. */
const laterFrom = (fromMs: number) => (text: string) => {
  const later = (ms: number): number => (ms >= fromMs && ms - fromMs < 24 * HOUR_MS ? ms + HOUR_MS : ms);
  return (
    text
      // A local time without a zone is in UTC: recordings have that zone
      .replaceAll(/(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)(Z|")/g, (_, time: string, end: string) =>
        new Date(later(Date.parse(`${time}Z`))).toISOString().replace("Z", end),
      )
      .replaceAll(/(?<![\w.-])1[78]\d{11}(?![\w.-])/g, (ms) => String(later(Number(ms))))
  );
};
