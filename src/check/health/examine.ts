import type { Context } from "#config/context.ts";
import type { Agent } from "#core/model/agent.ts";
import type { AgentLookup } from "#setup/registration/settings.ts";
import { type AgentReport, agentReports } from "./checks/agents.ts";
import { CHECKS, CHECKS_IN_STATUS, resultsOf } from "./checks.ts";
import { examinedOf } from "./facts/examined.ts";
import type { Status } from "./facts/shape.ts";
import { checkStore, exposedFiles } from "./facts/tried.ts";
import type { Finding } from "./finding.ts";

/** Findings on this machine, and one report per agent. */
export interface Examination {
  readonly findings: readonly Finding[];
  readonly native: Status["native_exporters"];
  readonly reports: readonly AgentReport[];
}

/** Runs every check of `doctor`. Changes nothing. */
export async function examine(context: Context, agents: AgentLookup, hookSource: string): Promise<Examination> {
  // Before the store is opened, because SQLite then adds files with the same mode
  const exposed = await exposedFiles(context);
  const examined = await examinedOf(context, await agents.list());
  const checked = await checkStore(examined.facts);
  const results = await resultsOf(CHECKS, { ...examined, exposed, checked, hookSource });
  return {
    findings: results.filter((result) => "area" in result),
    native: examined.facts.native_exporters,
    reports: await agentReports(examined.facts.agents, checked.activity, context, agents),
  };
}

/**
 * Collects the status read-only: no directory, store or file is created.
 *
 * @param cards the known agents. @default those of the registry
 */
export async function collectStatus(context: Context, cards?: readonly Agent[]): Promise<Status> {
  const examined = await examinedOf(context, cards);
  const results = await resultsOf(CHECKS_IN_STATUS, examined);
  const linesOf = (level: "broken" | "remark"): readonly string[] =>
    results.flatMap((result) => (result.level === level && result.inStatus !== undefined ? [result.inStatus] : []));
  return { ...examined.facts, broken: linesOf("broken"), remarks: linesOf("remark") };
}
