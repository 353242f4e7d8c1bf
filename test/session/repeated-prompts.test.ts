import { expect, test } from "vitest";
import { NOTHING_SETTLED } from "#core/model/session.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { joinPrompts } from "#core/session/prompts.ts";
import { NOON_MS, prompted } from "./events.ts";

const written = (key: string, ms: number): TranscriptEntry => ({
  kind: "prompt",
  key,
  promptKey: key,
  timeMs: NOON_MS + ms,
  origin: "human",
  length: 12,
});
const keys = (events: Parameters<typeof joinPrompts>[0], entries: readonly TranscriptEntry[]) =>
  joinPrompts(events, entries, NOTHING_SETTLED).map(({ key, uses }) => [key, uses.length]);

test("a hook without an id that is registered twice reports one prompt of the transcript", () => {
  expect(keys([prompted("a", 0), prompted("b", 40)], [written("p", 20)])).toEqual([["p", 3]]);
});

test("two equal prompts in the transcript are two", () => {
  expect(keys([prompted("a", 0), prompted("b", 900)], [written("p", 20), written("q", 920)])).toHaveLength(2);
});

test("a later prompt whose line is not written yet is another one", () => {
  expect(keys([prompted("a", 0), prompted("b", 60_000)], [written("p", 20)])).toHaveLength(2);
});
