import { plural } from "../../text/figures.ts";
import { clip, type Piece, printable, type Terminal, wrapped } from "../../text/terminal.ts";
import { VERSION } from "../../version.ts";
import type { Finding } from "./finding.ts";
import type { FixReport } from "./fix.ts";

/** The findings by area, then one line that sums them up. */
export function* doctorLines(
  all: readonly Finding[],
  fixes: FixReport | undefined,
  terminal: Terminal,
): Generator<string> {
  yield clip(`openhook-otel ${VERSION}`, terminal.columns);
  for (const text of fixes?.done ?? []) yield* wrapped({ text: "fixed: ", style: "green" }, printable(text), terminal);
  for (const text of fixes?.failed ?? [])
    yield* wrapped({ text: "not fixed: ", style: "red" }, printable(text), terminal);
  let area = "";
  for (const finding of all) {
    if (finding.area !== area) {
      area = finding.area;
      yield "";
      yield clip(printable(area), terminal.columns);
    }
    yield* wrapped(MARKS[finding.level], printable(finding.text), terminal);
    if (finding.todo !== undefined) yield* wrapped({ text: "  → ", style: "dim" }, printable(finding.todo), terminal);
  }
  yield "";
  yield clip(summary(all), terminal.columns);
}

// --- internal ---

const MARKS = {
  ok: { text: "✓ ", style: "green" },
  remark: { text: "! ", style: "yellow" },
  broken: { text: "✗ ", style: "red" },
} as const satisfies Record<Finding["level"], Piece>;

function summary(all: readonly Finding[]): string {
  const [broken, remarks] = (["broken", "remark"] as const).map(
    (level) => all.filter((one) => one.level === level).length,
  );
  if (broken === 0 && remarks === 0) return "everything works";
  return [...(broken ? [`${broken} broken`] : []), ...(remarks ? [plural(remarks, "remark")] : [])].join(", ");
}
