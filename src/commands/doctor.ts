import { doctorLines } from "#check/health/doctor-text.ts";
import { type Examination, examine } from "#check/health/examine.ts";
import type { Finding } from "#check/health/finding.ts";
import { type FixReport, fix } from "#check/health/fix.ts";
import type { Context } from "#config/context.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { VERSION } from "#kit/version.ts";
import type { AgentLookup } from "#setup/registration/settings.ts";

interface DoctorOptions {
  readonly json: boolean;
  /** Fix what is safe to fix first. */
  readonly fix: boolean;
  /** The shipped hook program, absolute. */
  readonly hookSource: string;
}

/**
 * `openhook-otel doctor`: checks everything between an agent and the backend, with harmless trials: the hook writes an
 * event, the backend gets an empty request, SQLite checks the store. Each finding has a remedy.
 *
 * @returns exit code: 0 everything works, or only remarks; 1 something is broken
 */
export async function doctor(options: DoctorOptions, context: Context, agents: AgentLookup): Promise<number> {
  const fixes = options.fix ? await fix(context, agents, options.hookSource) : undefined;
  const examination = await examine(context, agents, options.hookSource);
  const all = [...examination.findings, ...examination.reports.flatMap((report) => report.findings)];
  if (options.json) context.stdout.write(`${JSON.stringify(asJson(examination, fixes))}\n`);
  else printLines(context, doctorLines(examination, fixes, terminalOf(context)));
  return all.some(({ level }) => level === "broken") || (fixes?.failed.length ?? 0) > 0 ? 1 : 0;
}

// --- internal ---

const asJson = ({ findings, native, reports }: Examination, fixes: FixReport | undefined) => ({
  version: VERSION,
  ...(fixes !== undefined && { fixed: fixes.done, not_fixed: fixes.failed }),
  findings: findings.map(plain),
  native_exporters: native,
  agents: reports.map((report) => ({ ...report, findings: report.findings.map(plain) })),
});

const plain = ({ area, level, text, todo }: Finding) => ({ area, level, text, todo: todo ?? null });
