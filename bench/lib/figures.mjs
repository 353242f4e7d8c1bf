// How all benchmarks compute and print their figures

export const median = (values) => sorted(values)[Math.floor((values.length - 1) / 2)];

/** Of pairs from the same round, so that other load on the machine affects both. */
export const ratios = (values, baseline) => values.map((value, n) => value / baseline[n]);

export const inTime = (ms) =>
  Math.abs(ms) < 10
    ? `${ms.toFixed(2)} ms`
    : Math.abs(ms) < 1_000
      ? `${ms.toFixed(0)} ms`
      : `${(ms / 1000).toFixed(2)} s`;
export const inMiB = (kib) => (kib === undefined ? "not measured" : `${(kib / 1024).toFixed(0)} MiB`);
export const inWhole = (number) => Math.round(number).toLocaleString("en-US");
export const inRatio = (ratio) => `${ratio.toFixed(2)} x`;

/** The quartiles: half of all runs are between them. */
export function spread(values, format) {
  const last = values.length - 1;
  return [Math.floor(last / 4), Math.ceil((3 * last) / 4)].map((n) => format(sorted(values)[n])).join(" to ");
}

/** A table: first column left-aligned, the others right-aligned. */
export function table(head, rows) {
  const widths = head.map((title, n) => Math.max(title.length, ...rows.map((row) => row[n].length)));
  return [head, widths.map((width) => "-".repeat(width)), ...rows]
    .map((row) =>
      row
        .map((cell, n) => (n === 0 ? cell.padEnd(widths[n]) : cell.padStart(widths[n])))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** @returns an entry of the list of goals; `isMet` is undefined if it was not measured */
export const goal = (text, figure, isMet) => ({ text, figure, isMet });

/**
 * A table of everything measured in the same rounds, each compared with the baseline.
 *
 * @param measured by `inRounds`
 * @param baseline name of the row that the others are compared with
 */
export function comparison(measured, baseline) {
  const of = (name, figure) => measured[name].map((one) => one[figure]);
  const rows = Object.keys(measured).map((name) => {
    const wall = ratios(of(name, "wallMs"), of(baseline, "wallMs"));
    const cpu = ratios(of(name, "cpuMs"), of(baseline, "cpuMs"));
    const peaks = of(name, "peakKib");
    return [
      name,
      inTime(median(of(name, "wallMs"))),
      spread(of(name, "wallMs"), inTime),
      inTime(median(of(name, "cpuMs"))),
      inMiB(peaks[0] === undefined ? undefined : median(peaks)),
      inRatio(median(wall)),
      spread(wall, inRatio),
      inRatio(median(cpu)),
    ];
  });
  return table(
    ["", "wall", "half of all", "processor", "peak", `to ${baseline}`, "half of all", "its processor"],
    rows,
  );
}

/** Prints a benchmark that was started on its own. */
export function printReport({ text, goals }) {
  console.log(`${text}\n\n${goalLines(goals)}`);
}

/** One line per goal. */
export const goalLines = (goals) =>
  goals
    .map(({ text, figure, isMet }) => `${isMet === undefined ? "OPEN" : isMet ? "met" : "MISSED"}: ${text}: ${figure}`)
    .join("\n");

// --- internal ---

const sorted = (values) => values.toSorted((a, b) => a - b);
