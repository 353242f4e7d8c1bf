/** One side of a comparison; `text` is `undefined` for a missing file. */
interface DiffSide {
  readonly path: string;
  readonly text: string | undefined;
}

/**
 * A unified diff with three lines of context, as `diff -u` prints it.
 *
 * @returns an empty string if both are equal
 */
export function unifiedDiff(before: DiffSide, after: DiffSide): string {
  if (before.text === after.text) return "";
  const steps = compare(linesOf(before.text), linesOf(after.text));
  const out = [`--- ${labelOf(before)}`, `+++ ${labelOf(after)}`];
  for (const [from, to] of hunksOf(steps)) {
    const hunk = steps.slice(from, to);
    const ahead = steps.slice(0, from);
    const oldRange = rangeOf(ahead, hunk, "+");
    const newRange = rangeOf(ahead, hunk, "-");
    out.push(`@@ -${oldRange} +${newRange} @@`);
    for (const { sign, line } of hunk) {
      out.push(sign + line.replace(/\n$/, ""));
      if (!line.endsWith("\n")) out.push("\\ No newline at end of file");
    }
  }
  return `${out.join("\n")}\n`;
}

/** `unifiedDiff`, in which a long file that is new or removed is one line. @param isFull all its lines */
export function diffOfFile(before: DiffSide, after: DiffSide, isFull: boolean): string {
  const [text, change] = before.text === undefined ? [after.text, "new file"] : [before.text, "removed file"];
  const isWhole = (before.text === undefined) !== (after.text === undefined);
  const length = isWhole ? linesOf(text).length : 0;
  if (isFull || length <= MAX_WHOLE_LINES) return unifiedDiff(before, after);
  return `${change} ${before.path}, ${length} lines: --full prints them\n`;
}

// --- internal ---

const CONTEXT_LINES = 3;
const MAX_WHOLE_LINES = 40;
// 2000 × 2000 lines; beyond that the middle is shown as replaced, because comparing takes seconds
const MAX_CELLS = 4_000_000;

interface Step {
  readonly sign: " " | "-" | "+";
  /** With its line end, so that a missing one is visible. */
  readonly line: string;
}

const labelOf = ({ path, text }: DiffSide): string => (text === undefined ? "/dev/null" : path);

const linesOf = (text: string | undefined): readonly string[] => text?.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const all = (sign: Step["sign"], lines: readonly string[]): readonly Step[] => lines.map((line) => ({ sign, line }));

function compare(before: readonly string[], after: readonly string[]): readonly Step[] {
  let head = 0;
  while (head < Math.min(before.length, after.length) && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < Math.min(before.length, after.length) - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail++;
  }
  return [
    ...all(" ", before.slice(0, head)),
    ...compareMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...all(" ", before.slice(before.length - tail)),
  ];
}

/** Longest common subsequence, by dynamic programming. */
function compareMiddle(before: readonly string[], after: readonly string[]): readonly Step[] {
  const width = after.length + 1;
  if ((before.length + 1) * width > MAX_CELLS) return [...all("-", before), ...all("+", after)];
  const common = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const steps: Step[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const old = before[row];
    const fresh = after[column];
    if (old !== undefined && old === fresh) {
      steps.push({ sign: " ", line: old });
      row++;
      column++;
    } else if (old !== undefined && (fresh === undefined || at(row + 1, column) >= at(row, column + 1))) {
      steps.push({ sign: "-", line: old });
      row++;
    } else {
      steps.push({ sign: "+", line: fresh ?? "" });
      column++;
    }
  }
  return steps;
}

/** Ranges of changed lines with their context, merged where they touch. End exclusive. */
function hunksOf(steps: readonly Step[]): readonly (readonly [number, number])[] {
  const hunks: [number, number][] = [];
  for (const [index, step] of steps.entries()) {
    if (step.sign === " ") continue;
    const from = Math.max(0, index - CONTEXT_LINES);
    const to = Math.min(steps.length, index + 1 + CONTEXT_LINES);
    const last = hunks.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = to;
    else hunks.push([from, to]);
  }
  return hunks;
}

/** `start,count` of one side; `other`: the sign of lines that are only on the other side. */
function rangeOf(ahead: readonly Step[], hunk: readonly Step[], other: Step["sign"]): string {
  const count = hunk.filter((step) => step.sign !== other).length;
  const before = ahead.filter((step) => step.sign !== other).length;
  return `${count === 0 ? before : before + 1}${count === 1 ? "" : `,${count}`}`;
}
