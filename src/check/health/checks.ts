import { unreadFormats } from "#collect/transcripts/unread-formats.ts";
import * as agents from "./checks/agents.ts";
import * as bridge from "./checks/bridge.ts";
import * as collector from "./checks/collector.ts";
import * as endpoint from "./checks/endpoint.ts";
import * as hook from "./checks/hook.ts";
import * as inbox from "./checks/inbox.ts";
import * as managedHook from "./checks/managed-hook.ts";
import * as native from "./checks/native.ts";
import * as program from "./checks/program.ts";
import * as settings from "./checks/settings.ts";
import * as state from "./checks/state.ts";
import * as store from "./checks/store.ts";
import type { Examined } from "./facts/examined.ts";
import type { Tried } from "./facts/tried.ts";
import { onlyInStatus, type Result, type StatusLine } from "./finding.ts";

/** What `doctor` checks on this machine, in its order. The checks of one agent are in `checks/agents.ts`. */
export const CHECKS = [
  program.nodeFindings,
  state.writableFindings,
  state.foreignFileFindings,
  state.exposedFindings,
  managedHook.managedHookFindings,
  hook.brokenHookFindings,
  hook.triedHookFindings,
  program.versionFindings,
  program.leftoverFindings,
  settings.settingsFindings,
  settings.discoveryFindings,
  state.fileSystemFindings,
  state.ownerFindings,
  settings.projectFindings,
  store.storeFindings,
  collector.processedFindings,
  collector.lostFindings,
  collector.unfinishedFindings,
  collector.driftFindings,
  collector.sizeFindings,
  inbox.drainFindings,
  inbox.otherUsersFindings,
  inbox.queueFindings,
  inbox.quarantineFindings,
  bridge.bridgeFindings,
  native.nativeFindings,
  endpoint.endpointFindings,
  native.exporterFindings,
  store.futureFindings,
] as const satisfies readonly ((tried: Tried) => Results)[];

/** Those of which `status` prints a summary, and what it says beside them, in its order. They start nothing and ask nobody. */
export const CHECKS_IN_STATUS = [
  state.writableFindings,
  inbox.drainFindings,
  inbox.unlistableInbox,
  store.storeLines,
  state.foreignFileFindings,
  hook.brokenHookFindings,
  agents.registrationFindings,
  agents.blockedLines,
  collector.processedFindings,
  collector.driftFindings,
  bridge.bridgeFindings,
  native.nativeFindings,
  collector.lostFindings,
  inbox.queueFindings,
  native.exporterFindings,
  logLines,
  unreadFormatLines,
  settings.settingsFindings,
] as const satisfies readonly ((examined: Examined) => Results)[];

/** Runs checks one after the other. */
export async function resultsOf<Known extends Examined>(
  checks: readonly ((known: Known) => Results)[],
  known: Known,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const check of checks) for await (const result of check(known)) results.push(result);
  return results;
}

// --- internal ---

type Results = Iterable<Result> | AsyncIterable<Result>;

/** Drains that could not even open the store only report it in the log. */
function* logLines({ store, facts }: Examined): Generator<StatusLine> {
  if (store.state !== "ok") for (const line of facts.log.last_lines) yield onlyInStatus("remark", `log: ${line}`);
}

/** Sessions on this machine that no command can read. */
async function* unreadFormatLines({ cards, loaded, context }: Examined): AsyncGenerator<StatusLine> {
  const { places, env } = context;
  for (const text of await unreadFormats({ agents: cards, loaded, places, env })) yield onlyInStatus("remark", text);
}
