import type { Context } from "../../context.ts";
import type { AgentLookup } from "../../registration/settings-edit.ts";
import { collectStatus } from "../status/facts.ts";
import { type AgentReport, agentReports } from "./agents.ts";
import { endpointFindings } from "./endpoint.ts";
import { fileSystemFindings } from "./file-system.ts";
import type { Finding } from "./finding.ts";
import { exposed, machineFindings } from "./machine.ts";
import { privacyFindings } from "./private.ts";
import { selfFindings } from "./self.ts";
import { futureFindings, inboxFindings, storeFindings } from "./stored.ts";

/** Findings on this machine, and one report per agent. */
export interface Examination {
  readonly findings: readonly Finding[];
  readonly reports: readonly AgentReport[];
}

/** Runs every check of `doctor`. Changes nothing. */
export async function examine(context: Context, agents: AgentLookup, hookSource: string): Promise<Examination> {
  // Before the store is opened, because SQLite then adds files with the same mode
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
