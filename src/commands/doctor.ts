import type { Context } from "../context.ts";
import { type AgentReport, agentReports } from "../health/doctor/agents.ts";
import { endpointFindings } from "../health/doctor/endpoint.ts";
import { fileSystemFindings } from "../health/doctor/file-system.ts";
import type { Finding } from "../health/doctor/finding.ts";
import { exposed, machineFindings } from "../health/doctor/machine.ts";
import { privacyFindings } from "../health/doctor/private.ts";
import { selfFindings } from "../health/doctor/self.ts";
import { futureFindings, inboxFindings, storeFindings } from "../health/doctor/stored.ts";
import { collectStatus } from "../health/status/facts.ts";
import type { AgentLookup } from "../registration/settings-edit.ts";
import { printLines } from "../text/ascii.ts";
import { plural } from "../text/figures.ts";
import { clip, type Piece, printable, type Terminal, terminalOf, wrapped } from "../text/terminal.ts";
import { VERSION } from "../version.ts";
import { type Mended, mend } from "./doctor-fix.ts";

export interface DoctorOptions {
  readonly json: boolean;
  /** Mend what can be mended without a question first. */
  readonly fix: boolean;
  /** The shipped hook program, absolute. */
  readonly hookSource: string;
}

/**
 * `openhook-otel doctor`: looks at everything between an agent and the backend, by trying it where that does no harm: the
 * hook takes an event, the backend gets an empty request, SQLite checks the store. Each finding says what to do.
 *
 * @returns exit code: 0 all well, or remarks alone; 1 something is broken
 */
export async function doctor(options: DoctorOptions, context: Context, agents: AgentLookup): Promise<number> {
  const mended = options.fix ? await mend(context, agents, options.hookSource) : undefined;
  const { findings, reports } = await examine(context, agents, options.hookSource);
  const all = [...findings, ...reports.flatMap((report) => report.findings)];
  if (options.json) context.stdout.write(`${JSON.stringify(asJson(findings, reports, mended))}\n`);
  else printLines(context, inWords(all, mended, terminalOf(context)));
  return all.some(({ level }) => level === "broken") || (mended?.failed.length ?? 0) > 0 ? 1 : 0;
}

// --- internal ---

interface Examination {
  readonly findings: readonly Finding[];
  readonly reports: readonly AgentReport[];
}

async function examine(context: Context, agents: AgentLookup, hookSource: string): Promise<Examination> {
  // Before the store is looked into: SQLite makes files beside it, of the same mode, for as long as it is open
  const open = await exposed(context);
  const status = await collectStatus(context, await agents.list());
  const store = await storeFindings(status, context);
  const findings: Finding[] = [];
  for await (const finding of machineFindings(status, context, open, hookSource)) findings.push(finding);
  findings.push(...fileSystemFindings(context));
  for await (const finding of privacyFindings(context)) findings.push(finding);
  findings.push(...store.findings);
  for await (const finding of selfFindings(status, context)) findings.push(finding);
  for await (const finding of inboxFindings(status, context)) findings.push(finding);
  for await (const finding of endpointFindings(status, context)) findings.push(finding);
  findings.push(...futureFindings(store.heard, context.now()));
  return { findings, reports: await agentReports(status.agents, store.heard, context, agents) };
}

const asJson = (findings: readonly Finding[], reports: readonly AgentReport[], mended: Mended | undefined) => ({
  version: VERSION,
  ...(mended !== undefined && { fixed: mended.done, not_fixed: mended.failed }),
  findings: findings.map(plain),
  agents: reports.map((report) => ({ ...report, findings: report.findings.map(plain) })),
});

const plain = ({ area, level, text, todo }: Finding) => ({ area, level, text, todo: todo ?? null });

const MARKS = {
  ok: { text: "✓ ", style: "green" },
  remark: { text: "! ", style: "yellow" },
  broken: { text: "✗ ", style: "red" },
} as const satisfies Record<Finding["level"], Piece>;

function* inWords(all: readonly Finding[], mended: Mended | undefined, terminal: Terminal): Generator<string> {
  yield clip(`openhook-otel ${VERSION}`, terminal.columns);
  for (const text of mended?.done ?? [])
    yield* wrapped({ text: "mended: ", style: "green" }, printable(text), terminal);
  for (const text of mended?.failed ?? [])
    yield* wrapped({ text: "not mended: ", style: "red" }, printable(text), terminal);
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

function summary(all: readonly Finding[]): string {
  const [broken, remarks] = (["broken", "remark"] as const).map(
    (level) => all.filter((one) => one.level === level).length,
  );
  if (broken === 0 && remarks === 0) return "all is well";
  return [...(broken ? [`${broken} broken`] : []), ...(remarks ? [plural(remarks, "remark")] : [])].join(", ");
}
