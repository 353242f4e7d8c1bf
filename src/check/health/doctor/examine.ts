import type { Context } from "#config/context.ts";
import type { AgentLookup } from "#setup/registration/settings-edit.ts";
import { collectStatus } from "../status/facts.ts";
import { type AgentReport, agentReports } from "./agents.ts";
import { bridgeFindings } from "./bridge.ts";
import { endpointFindings } from "./endpoint.ts";
import { exposedFiles } from "./exposed-files.ts";
import { fileSystemFindings } from "./file-system.ts";
import type { Finding } from "./finding.ts";
import { drainFindings, inboxFindings } from "./inbox.ts";
import { machineFindings } from "./machine.ts";
import { privacyFindings } from "./privacy.ts";
import { selfFindings } from "./self-telemetry.ts";
import { futureFindings, storeFindings } from "./store.ts";

/** Findings on this machine, and one report per agent. */
export interface Examination {
  readonly findings: readonly Finding[];
  readonly reports: readonly AgentReport[];
}

/** Runs every check of `doctor`. Changes nothing. */
export async function examine(context: Context, agents: AgentLookup, hookSource: string): Promise<Examination> {
  // Before the store is opened, because SQLite then adds files with the same mode
  const exposed = await exposedFiles(context);
  const status = await collectStatus(context, await agents.list());
  const store = await storeFindings(status, context);
  const findings: Finding[] = [];
  for await (const finding of machineFindings(status, context, exposed, hookSource)) findings.push(finding);
  findings.push(...fileSystemFindings(context));
  for await (const finding of privacyFindings(context)) findings.push(finding);
  findings.push(...store.findings);
  for await (const finding of selfFindings(status, context)) findings.push(finding);
  findings.push(...drainFindings(status));
  for await (const finding of inboxFindings(status, context)) findings.push(finding);
  findings.push(...bridgeFindings(status));
  for await (const finding of endpointFindings(status, context)) findings.push(finding);
  findings.push(...futureFindings(store.activity, context.now()));
  return { findings, reports: await agentReports(status.agents, store.activity, context, agents) };
}
