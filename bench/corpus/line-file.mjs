import { closeSync, openSync, writeFileSync } from "node:fs";

/**
 * A file of lines, written in large pieces: one write per line would take longer than generating it.
 *
 * @param totals `files`, `lines` and `bytes` are increased
 */
export function lineFile(path, totals) {
  const file = openSync(path, "w");
  let held = [];
  let heldCharacters = 0;
  const flush = () => {
    const bytes = Buffer.from(held.join(""));
    writeFileSync(file, bytes);
    totals.bytes += bytes.length;
    held = [];
    heldCharacters = 0;
  };
  totals.files++;
  return {
    put: (line) => {
      held.push(line, "\n");
      heldCharacters += line.length;
      totals.lines++;
      if (heldCharacters > 1 << 20) flush();
    },
    close: () => {
      flush();
      closeSync(file);
    },
  };
}
