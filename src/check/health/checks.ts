import { unreadFormats } from "#collect/transcripts/unread-formats.ts";
import { blockedLines, registrationFindings } from "./checks/agents.ts";
import { bridgeFindings } from "./checks/bridge.ts";
import {
  driftFindings,
  lostFindings,
  processedFindings,
  sizeFindings,
  unfinishedFindings,
} from "./checks/collector.ts";
import { endpointFindings } from "./checks/endpoint.ts";
import { brokenHookFindings, triedHookFindings } from "./checks/hook.ts";
import {
  drainFindings,
  otherUsersFindings,
  quarantineFindings,
  queueFindings,
  unlistableInbox,
} from "./checks/inbox.ts";
import { managedHookFindings } from "./checks/managed-hook.ts";
import { leftoverFindings, nodeFindings, versionFindings } from "./checks/program.ts";
import { discoveryFindings, projectFindings, settingsFindings } from "./checks/settings.ts";
import {
  exposedFindings,
  fileSystemFindings,
  foreignFileFindings,
  ownerFindings,
  writableFindings,
} from "./checks/state.ts";
import { futureFindings, storeFindings, storeLines } from "./checks/store.ts";
import type { Examined } from "./facts/examined.ts";
import type { Tried } from "./facts/tried.ts";
import { onlyInStatus, type Result, type StatusLine } from "./finding.ts";

/** What `doctor` checks on this machine, in its order. The checks of one agent are in `checks/agents.ts`. */
export const CHECKS = [
  nodeFindings,
  writableFindings,
  foreignFileFindings,
  exposedFindings,
  managedHookFindings,
  brokenHookFindings,
  triedHookFindings,
  versionFindings,
  leftoverFindings,
  settingsFindings,
  discoveryFindings,
  fileSystemFindings,
  ownerFindings,
  projectFindings,
  storeFindings,
  processedFindings,
  lostFindings,
  unfinishedFindings,
  driftFindings,
  sizeFindings,
  drainFindings,
  otherUsersFindings,
  queueFindings,
  quarantineFindings,
  bridgeFindings,
  endpointFindings,
  futureFindings,
] as const satisfies readonly ((tried: Tried) => Results)[];

/** Those of which `status` prints a summary, and what it says beside them, in its order. They start nothing and ask nobody. */
export const CHECKS_IN_STATUS = [
  writableFindings,
  drainFindings,
  unlistableInbox,
  storeLines,
  foreignFileFindings,
  brokenHookFindings,
  registrationFindings,
  blockedLines,
  processedFindings,
  driftFindings,
  bridgeFindings,
  lostFindings,
  queueFindings,
  logLines,
  unreadFormatLines,
  settingsFindings,
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
