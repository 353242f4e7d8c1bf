import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";
import { clip, type Piece, printable, type Terminal, wrapped } from "#kit/text/terminal.ts";
import { VERSION } from "#kit/version.ts";
import { NOTHING_TO_COLLECT } from "#setup/registration/present-agents.ts";
import type { AgentReport } from "./checks/agents.ts";
import type { Examination } from "./examine.ts";
import type { Finding } from "./finding.ts";
import type { FixReport } from "./fix.ts";

/**
 * Areas with something broken first, then those with remarks, each below its name; then a line for everything that
 * works. Agents that are not on this machine share one line.
 */
export function* doctorLines(
  { findings, reports }: Examination,
  fixes: FixReport | undefined,
  terminal: Terminal,
): Generator<string> {
  yield clip(`openhook-otel ${VERSION}`, terminal.columns);
  for (const text of fixes?.done ?? []) yield* wrapped({ text: "fixed: ", style: "green" }, printable(text), terminal);
  for (const text of fixes?.failed ?? [])
    yield* wrapped({ text: "not fixed: ", style: "red" }, printable(text), terminal);
  const absent = reports.filter(isAbsent);
  const isEmpty = absent.length === reports.length;
  if (isEmpty) {
    yield "";
    yield* wrapped(MARKS.remark, NOTHING_TO_COLLECT, terminal);
    yield* wrapped(TODO, `install one, then run ${suggest("start")}; ${suggest("demo")} shows an example`, terminal);
  }
  const all = [...findings, ...reports.filter((report) => !isAbsent(report)).flatMap((report) => report.findings)];
  const areas = [...new Set(all.map(({ area }) => area))].map((area) => {
    const own = all.filter((finding) => finding.area === area);
    return { area, own, level: worstOf(own) };
  });
  for (const level of ["broken", "remark"] as const) {
    for (const { area, own } of areas.filter((found) => found.level === level)) {
      yield "";
      yield clip(printable(area), terminal.columns);
      for (const finding of own) yield* findingLines(finding, finding.text, terminal);
    }
  }
  yield "";
  for (const { own } of areas.filter(({ level }) => level === "ok")) {
    for (const finding of own) yield* findingLines(finding, `${finding.area}: ${finding.text}`, terminal);
  }
  if (absent.length > 0) {
    const titles = absent.flatMap(({ title, any_program }) => (any_program ? [] : [title])).join(", ");
    if (titles !== "") yield* wrapped(NOTE, printable(`not on this machine: ${titles}`), terminal);
    for (const { source, any_program } of absent) {
      if (!any_program) continue;
      const how = `in a project that uses one, run ${suggest(`enable ${source}`)}`;
      yield* wrapped(NOTE, `other programs can send OpenHook v0.1 events themselves: ${how}`, terminal);
    }
  }
  yield "";
  yield clip(summary(all, isEmpty), terminal.columns);
}

// --- internal ---

const MARKS = {
  ok: { text: "✓ ", style: "green" },
  remark: { text: "! ", style: "yellow" },
  broken: { text: "✗ ", style: "red" },
} as const satisfies Record<Finding["level"], Piece>;
const NOTE: Piece = { text: "- ", style: "dim" };
const TODO: Piece = { text: "  → ", style: "dim" };

/** Not installed, not enabled, and nothing was ever received from it. */
const isAbsent = ({ present, registrations, last_event, findings }: AgentReport): boolean =>
  !present && registrations.length === 0 && last_event === null && worstOf(findings) === "ok" && findings.length === 1;

function* findingLines({ level, todo }: Finding, text: string, terminal: Terminal): Generator<string> {
  yield* wrapped(MARKS[level], printable(text), terminal);
  if (todo !== undefined) yield* wrapped(TODO, printable(todo), terminal);
}

const worstOf = (findings: readonly Finding[]): Finding["level"] =>
  (["broken", "remark"] as const).find((level) => findings.some((finding) => finding.level === level)) ?? "ok";

function summary(all: readonly Finding[], isEmpty: boolean): string {
  const [broken, remarks] = (["broken", "remark"] as const).map(
    (level) => all.filter((finding) => finding.level === level).length,
  );
  if (broken === 0 && remarks === 0) return isEmpty ? "nothing is broken" : "everything works";
  return [...(broken ? [`${broken} broken`] : []), ...(remarks ? [plural(remarks, "remark")] : [])].join(", ");
}
