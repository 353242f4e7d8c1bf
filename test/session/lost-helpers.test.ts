// A transcript that ends in the call of a helper has one lost call for it, unless the helper itself reported its calls.
import { expect, test } from "vitest";
import { NOTHING_SETTLED } from "#core/model/session.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import { lostCallKey } from "#core/rules/calls.ts";
import { assign } from "#core/session/assign.ts";

const CALLS = ["call_a", "call_b"];
const prompt: TranscriptEntry = { kind: "prompt", key: "prompt:1", promptKey: "1", timeMs: 1, origin: "human" };
const lost = CALLS.map(
  (callId): TranscriptEntry => ({
    kind: "model_call",
    key: lostCallKey(callId),
    promptKey: "1",
    timeMs: 90,
    endMs: 90,
    complete: false,
  }),
);
const helper = (agentId: string, parentCallId?: string): readonly TranscriptEntry[] => [
  { kind: "subagent", key: `subagent:${agentId}`, agentId, timeMs: 5, ...(parentCallId && { parentCallId }) },
  { kind: "model_call", key: `call:${agentId}`, agentId, timeMs: 6, endMs: 7, complete: true },
];
const keysOf = (entries: readonly TranscriptEntry[]) =>
  assign([], [prompt, ...lost, ...entries], [], NOTHING_SETTLED, new Map()).turns.flatMap(({ modelCalls }) =>
    modelCalls.map(({ key }) => key),
  );

test.each([
  ["no helper reported anything", [], CALLS],
  ["the helper of one call did", helper("x", "call_a"), ["call_b"]],
  ["a helper of an unknown call did", helper("x"), ["call_b"]],
  ["both did", [...helper("x", "call_b"), ...helper("y")], []],
])("%s", (_, entries, left) => {
  expect(keysOf(entries)).toEqual(left.map(lostCallKey));
});
