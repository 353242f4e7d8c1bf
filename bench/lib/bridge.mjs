import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inTime, median } from "./figures.mjs";

/** A command of two lines that keeps every envelope behind the time at which it started, in nanoseconds. */
export const COMMAND = `read -r line
printf '%s %s\\n' "$(date +%s%N)" "$line" >> "$HOME/received"`;

/** Writes the registration file; it is not allowed yet. */
export function allowCommand(project, command = COMMAND) {
  writeFileSync(join(project, ".openhook.json"), JSON.stringify({ openhook: "0.1", hooks: [{ command }] }));
}

/**
 * What the command got, in order.
 *
 * @throws if an envelope came twice or a session's are not in order
 */
export function receivedIn(home) {
  const path = join(home, "received");
  if (!existsSync(path)) return [];
  const all = readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => {
      const [, ns, text] = /^(\d+) (.*)$/.exec(line);
      const envelope = JSON.parse(text);
      return { atMs: Number(ns) / 1e6, eventMs: Date.parse(envelope.time), envelope };
    });
  if (new Set(all.map(({ envelope }) => envelope.id)).size !== all.length) throw new Error("an envelope came twice");
  return all;
}

/** `median 60 ms, 9 of 10 below 100 ms, at most 200 ms`, and the share of one second or less. */
export function latencyText(ms) {
  const inOrder = ms.toSorted((a, b) => a - b);
  const late = ms.filter((one) => one > 1_000).length;
  return [
    `median ${inTime(median(ms))}`,
    `95 % within ${inTime(inOrder[Math.ceil(inOrder.length * 0.95) - 1])}`,
    `at most ${inTime(inOrder.at(-1))}`,
    `${late} of ${ms.length} above 1 s`,
  ].join(", ");
}

/** The interval that contains the true median with a probability of 95 % or more, from the order of the values alone. */
export function medianRange(values) {
  const inOrder = values.toSorted((a, b) => a - b);
  const n = inOrder.length;
  let [below, rank, term] = [0, 0, 0.5 ** n];
  // The number of values below the median is binomial
  while (below + term <= 0.025) {
    below += term;
    rank += 1;
    term *= (n - rank + 1) / rank;
  }
  if (rank === 0) return `${n} runs are too few for an interval`;
  return `95 % interval ${inOrder[rank - 1].toFixed(3)} to ${inOrder[n - rank].toFixed(3)}`;
}
