import { existsSync } from "node:fs";
import { join } from "node:path";
import { allAgents } from "#agents/registry.ts";
import { fileJson } from "#collect/bridge/json.ts";
import { bridgeFiles } from "#collect/bridge/report.ts";
import { bridgeRemarks } from "#collect/bridge/text.ts";
import { unreadFormats } from "#collect/transcripts/unread-formats.ts";
import type { Context } from "#config/context.ts";
import { foreignFiles } from "#config/file-owner.ts";
import { loadConfigAndPrices } from "#config/own-prices.ts";
import type { Agent } from "#core/model/agent.ts";
import { isoTime } from "#kit/text/figures.ts";
import { deliveryOf } from "./delivery.ts";
import { doubtfulHome } from "./doubtful-home.ts";
import { brokenHook, hookOf } from "./hook.ts";
import { inboxOf, lostRemark, staleRemark } from "./inbox.ts";
import { agentsOf, brokenRegistrations } from "./registrations.ts";
import { runningDrain } from "./running-drain.ts";
import { selfRemarks } from "./self-telemetry.ts";
import type { Status } from "./shape.ts";
import { sizesOf } from "./sizes.ts";
import { logOf, unwritableRemark } from "./state-directory.ts";
import { storeOf } from "./store.ts";

/**
 * Collects the status read-only: no directory, store or file is created.
 *
 * @param cards the known agents. @default those of the registry
 */
export async function collectStatus(context: Context, cards?: readonly Agent[]): Promise<Status> {
  const { places } = context;
  const loaded = await loadConfigAndPrices(context);
  const agents = await agentsOf(context, cards ?? (await allAgents()));
  const hook = await hookOf(context);
  const store = storeOf(context);
  const inboxes = await inboxOf(context, store);
  const bridge = bridgeFiles(context, store.bridgeCommands);
  const home = await doubtfulHome(context);
  const running = runningDrain(context);
  const foreign = foreignFiles(places.stateDir);
  const log = await logOf(join(places.stateDir, "drain.log"));
  const isEnabled = agents.some(({ registrations }) => registrations.some((one) => one.state === "enabled"));
  const hasRecords = agents.some(({ registrations }) => registrations.some((one) => one.recorded));
  return {
    agents,
    hook,
    state_dir: places.stateDir,
    state_dir_exists: existsSync(places.stateDir),
    inbox: inboxes.inbox,
    store: { path: places.storePath, state: store.state, sessions: store.sessions, open: store.open },
    self: store.self,
    sizes: await sizesOf(context),
    outbox: {
      waiting_spans: store.outbox.spans,
      refused_spans: store.outbox.refused,
      bytes: store.outbox.bytes,
      oldest: isoTime(store.outbox.oldestMs),
    },
    overflow: store.overflow.map(({ metric, series }) => ({ metric, series })),
    failed: store.failed.map(({ source, sessionId, step, reason, path, attempts, sinceMs }) => ({
      ...{ source, session_id: sessionId, step, reason, path: path ?? null, attempts },
      since: isoTime(sinceMs),
    })),
    last_drain: store.lastDrain,
    running_drain: running,
    delivery: {
      traces: deliveryOf("traces", loaded, store.meta, context),
      metrics: deliveryOf("metrics", loaded, store.meta, context),
    },
    bridge: bridge.map(fileJson),
    log,
    config: { path: places.configPath, errors: loaded.errors, warnings: loaded.warnings },
    broken: [
      ...(await unwritableRemark(context)),
      ...inboxes.broken,
      ...store.broken,
      ...foreign,
      ...(isEnabled || hasRecords ? brokenHook(hook, isEnabled, context) : []),
      ...agents.flatMap(brokenRegistrations),
      ...agents.flatMap(({ title, blocked }) => blocked.map((text) => `${title} is not collected: ${text}`)),
      ...loaded.errors.map((error) => `configuration: ${error}`),
    ],
    remarks: [
      ...(running?.slow === true ? [`the drain that is running takes long: ${running.text}`] : []),
      ...store.remarks,
      ...selfRemarks(store.self),
      ...bridgeRemarks(bridge, context.now()),
      ...[lostRemark(inboxes.inbox, places.stateDir, context.now())].filter((line) => line !== undefined),
      ...staleRemark(inboxes.inbox, context.now()),
      // Drains that could not even open the store only report it in the log
      ...(store.state === "ok" ? [] : log.last_lines.map((line) => `log: ${line}`)),
      ...(await unreadFormats({ agents: cards ?? (await allAgents()), loaded, places, env: context.env })),
      ...loaded.warnings.map((warning) => `configuration: ${warning}`),
      ...(home === undefined ? [] : [`configuration: ${home.problem}; ${home.remedy}`]),
    ],
  };
}
