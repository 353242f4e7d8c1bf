// The second witness of `reconcile`: usage in the files that no call explains, found without the agent's reader.
import { afterEach, expect, test } from "vitest";
import { allAgents } from "#agents/registry.ts";
import { unexplainedUsage } from "#check/reconcile/witness.ts";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import type { TranscriptFile } from "#core/model/transcript-reader.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { type RecordedHome, recordedCases, recordedHome } from "../import/home.ts";
import { locateAll } from "../support/located.ts";
import { appendLine, LINE, PLANTED, UNKNOWN, USAGE } from "../support/planted-usage.ts";
import { chosenRecordings } from "../support/whole.ts";

const homes: RecordedHome[] = [];
afterEach(() => {
  for (const { replay } of homes.splice(0)) replay.remove();
});

const CASES = await recordedCases();

async function sessionsOf(of: (typeof CASES)[number]): Promise<readonly (readonly TranscriptFile[])[]> {
  const at = await recordedHome(of);
  homes.push(at);
  const { sessions } = await locateAll(at.reader, at.home, at.roots);
  return Promise.all(sessions.map((session) => at.reader.files({ ...session, roots: at.roots })));
}

async function read(of: (typeof CASES)[number], files: readonly TranscriptFile[]) {
  const reader = (await of.agent.transcript?.())?.default;
  const byKey = new Map<string, TranscriptEntry>();
  const unread = new Map<string, number>();
  for (const file of files) {
    for await (const batch of reader?.read(file, INITIAL_OFFSET) ?? []) {
      for (const [kind, count] of batch.unreadUsage ?? []) unread.set(kind, count);
      for (const entry of batch.entries) {
        const known = byKey.get(entry.key);
        byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
      }
    }
  }
  const calls = [...byKey.values()].filter((one) => one.kind === "model_call");
  return { calls: calls.sort((a, b) => a.timeMs - b.timeMs), unread };
}

test.each(chosenRecordings(CASES))("$source, $name: every usage in the files is in a call", async (of) => {
  const sessions = await sessionsOf(of);
  expect(sessions.every((files) => files.length > 0)).toBe(true);
  for (const files of sessions) {
    const { calls, unread } = await read(of, files);
    expect(unread).toEqual(new Map());
    expect(await unexplainedUsage(files, calls, of.source)).toEqual([]);
  }
});

test("the table has every agent whose transcripts are read", async () => {
  const withReader = (await allAgents()).flatMap(({ source, transcript }) =>
    transcript === undefined ? [] : [source],
  );
  // Of senders that speak OpenHook, every usage is read by its shape, whatever the record; Kiro has its own test, and no recording
  const all = withReader.filter((source) => source !== "openhook" && source !== "kiro");
  expect(Object.keys(PLANTED).sort()).toEqual(all.sort());
});

const basicOf = async (source: string) => {
  const agent = (await allAgents()).find((one) => one.source === source);
  if (agent === undefined) throw new Error(`no agent ${source}`);
  return { agent, source, name: "basic" };
};

const EACH = Object.entries(PLANTED).flatMap(([source, all]) => all.map((one) => [source, one.found, one] as const));

test.each(EACH)("%s: usage in an unknown %s is a lower bound and a finding, once", async (source, found, { add }) => {
  const of = await basicOf(source);
  const [files = []] = await sessionsOf(of);
  const before = await read(of, files);
  expect(before.unread).toEqual(new Map());
  add(files[0]?.path ?? "");
  const { calls, unread } = await read(of, files);
  expect([...unread.keys()]).toEqual([found]);
  const [added, ...others] = calls.filter(({ key }) => key.startsWith("unread:"));
  expect(others).toEqual([]);
  expect(calls).toHaveLength(before.calls.length + 1);
  expect(added).toMatchObject({ covers: "unknown", complete: true });
  expect(added).not.toHaveProperty("usage");
  expect(added?.timeMs).toBeGreaterThan(0);
  // Some files are written again as a whole: the same usage keeps its key and its time
  expect((await read(of, files)).calls).toEqual(calls);
});

const IN_LINES = Object.keys(PLANTED).filter((source) => PLANTED[source]?.[0] === LINE);

test.each(IN_LINES)(
  "%s: usage that the reader passes over is found in reconcile, whatever the record",
  async (source) => {
    const of = await basicOf(source);
    const [files = []] = await sessionsOf(of);
    appendLine(files[0]?.path ?? "", { type: "user", timestamp: UNKNOWN.timestamp, extra: { usage: USAGE } });
    const { calls } = await read(of, files);
    expect(await unexplainedUsage(files, calls, source)).toMatchObject([{ records: 1, input: 70_001, output: 7_003 }]);
  },
);
