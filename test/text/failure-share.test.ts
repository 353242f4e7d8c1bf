// Which figures of failed calls are shown in red
import { expect, test } from "vitest";
import { type Failures, standsOut, sumOfFailures } from "#kit/text/failure-share.ts";

const of = (failed: number, calls: number): Failures => ({ failed, calls });
const usual = sumOfFailures([of(1, 10), of(1, 10), of(2, 20)]);

test.each<[string, Failures, boolean]>([
  ["clearly more than usual", of(4, 10), true],
  ["slightly more than usual, as half of all rows have", of(3, 25), false],
  ["many, and still as chance has it", of(115, 1_000), false],
  ["many, and more than chance gives", of(121, 1_000), true],
  ["as many as usual", of(2, 20), false],
  ["fewer than usual", of(2, 40), false],
  ["a single one, though its share is large", of(1, 1), false],
  ["no call", of(0, 0), false],
])("%s", (_, failures, isRed) => {
  expect(usual).toEqual(of(4, 40));
  expect(standsOut(failures, usual)).toBe(isRed);
});
