import { expect, test } from "vitest";
import type { SettledTurn } from "#core/model/session.ts";
import { idleEndReason } from "#core/session/idle-end-reason.ts";

const turn = (state: SettledTurn["state"], startMs: number, endMs: number, segment = 0): SettledTurn => ({
  ...{ state, startMs, endMs, segment },
  ...{ parts: 1, hasHook: true },
});

test.each([
  ["no turn", [], "timeout"],
  ["one that ended", [turn("ended", 0, 9)], "completed"],
  ["one that failed", [turn("ended", 0, 9), turn("failed", 10, 19)], "error"],
  ["one that was interrupted", [turn("ended", 0, 9), turn("interrupted", 10, 19)], "user_exit"],
  ["one that did not end", [turn("ended", 0, 9), turn("unfinished", 10, 19)], "timeout"],
  ["one that ended, and another segment's that failed", [turn("ended", 0, 9), turn("failed", 10, 19, 1)], "completed"],
  ["a late end of a call", [turn("ended", 0, 9), turn("unfinished", 3, 5)], "completed"],
  ["a call of an earlier turn that never ended", [turn("unfinished", 0, 19), turn("ended", 10, 19)], "completed"],
  ["activity after the end", [turn("ended", 0, 9), turn("unfinished", 12, 13)], "timeout"],
  ["two at the same time", [turn("ended", 0, 9), turn("failed", 9, 9)], "error"],
] as const)("%s", (_, turns, reason) => {
  expect(idleEndReason(0, turns)).toBe(reason);
  expect(idleEndReason(0, [...turns].reverse())).toBe(reason);
});
