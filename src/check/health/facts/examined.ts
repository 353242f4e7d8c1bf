import { existsSync } from "node:fs";
import { join } from "node:path";
import { allAgents } from "#agents/registry.ts";
import { type BridgeFile, bridgeFiles } from "#collect/bridge/report.ts";
import { fileJson } from "#collect/bridge/text.ts";
import { whyUnsent } from "#config/config-state.ts";
import type { Context } from "#config/context.ts";
import type { LoadedConfig } from "#config/load.ts";
import { otlpSettings } from "#config/otlp.ts";
import { loadConfigAndPrices } from "#config/own-prices.ts";
import { redactUrl } from "#config/redact.ts";
import type { Agent } from "#core/model/agent.ts";
import type { OtlpSignal } from "#core/model/settings.ts";
import { isoTime } from "#kit/text/figures.ts";
import { VERSION } from "#kit/version.ts";
import { nativeDestinations } from "#setup/registration/native-exporters.ts";
import { holderText, lockOf, runningHolder } from "#store/lock-holder.ts";
import { logOf, sizesOf } from "./files.ts";
import { agentsOf, hookOf } from "./hook.ts";
import { inboxOf } from "./inbox.ts";
import type { Delivery, Facts, RunningDrain } from "./shape.ts";
import { type StoreFacts, storeOf } from "./store.ts";

/** What checks judge. */
export interface Examined {
  readonly context: Context;
  /** The known agents. */
  readonly cards: readonly Agent[];
  readonly facts: Facts;
  readonly loaded: LoadedConfig;
  readonly store: StoreFacts;
  readonly bridge: readonly BridgeFile[];
  /** Why the inbox cannot be listed, with the remedy; `undefined`: it can. */
  readonly inboxProblem: string | undefined;
}

/**
 * Collects the facts read-only: no directory, store or file is created.
 *
 * @param known the known agents. @default those of the registry
 */
export async function examinedOf(context: Context, known?: readonly Agent[]): Promise<Examined> {
  const { places } = context;
  const loaded = await loadConfigAndPrices(context);
  const cards = known ?? (await allAgents());
  const agents = await agentsOf(context, cards);
  const hook = await hookOf(context);
  const store = storeOf(context);
  const { inbox, problem: inboxProblem } = await inboxOf(context, store);
  const bridge = bridgeFiles(context, store.bridgeCommands);
  const facts: Facts = {
    agents,
    native_exporters: await nativeOf(agents, cards, loaded, context),
    native_records: store.native ?? null,
    hook,
    state_dir: places.stateDir,
    state_dir_exists: existsSync(places.stateDir),
    inbox,
    store: { path: places.storePath, state: store.state, sessions: store.sessions, open: store.open },
    self: store.self,
    sizes: await sizesOf(context),
    outbox: store.outbox,
    log_outbox: store.logOutbox,
    overflow: store.overflow.map(({ metric, series }) => ({ metric, series })),
    failed: store.failed,
    last_drain: store.lastDrain,
    running_drain: runningDrain(context),
    delivery: {
      traces: deliveryOf("traces", loaded, store.meta, context),
      metrics: deliveryOf("metrics", loaded, store.meta, context),
      logs: deliveryOf("logs", loaded, store.meta, context),
    },
    bridge: bridge.map(fileJson),
    log: await logOf(join(places.stateDir, "drain.log")),
    config: { path: places.configPath, errors: loaded.errors, warnings: loaded.warnings },
  };
  return { context, cards, facts, loaded, store, bridge, inboxProblem };
}

// --- internal ---

/** Of agents that we collect: others double nothing. */
async function nativeOf(
  agents: Facts["agents"],
  cards: readonly Agent[],
  loaded: LoadedConfig,
  context: Context,
): Promise<Facts["native_exporters"]> {
  const isEnabled = (card: Agent): boolean =>
    agents.some(
      ({ source, managed, registrations }) =>
        source === card.source && (managed !== null || registrations.some(({ state }) => state === "enabled")),
    );
  const found = await Promise.all(cards.filter(isEnabled).map((card) => nativeDestinations(card, loaded, context)));
  return found.flat();
}

/** No step of a usual drain takes that long without a note. */
const SLOW_MS = 10_000;

/** The process that holds the drain's lock; `null` if there is none. */
function runningDrain({ places, now }: Context): RunningDrain | null {
  const holder = runningHolder(lockOf(places.stateDir));
  if (holder === undefined) return null;
  const { pid, host, sinceMs, step, stepMs, beatMs, files, isStopped } = holder;
  const iso = (ms: number): string => new Date(ms).toISOString();
  return {
    ...{ pid, host: host.split(" ")[0] ?? "", since: iso(sinceMs), step, step_since: iso(stepMs), files },
    ...{ beat: iso(beatMs), stopped: isStopped, text: holderText(holder, now()) },
    slow: isStopped || now() - stepMs > SLOW_MS || now() - beatMs > SLOW_MS,
  };
}

/** A signal's destination and last results, without secrets. */
function deliveryOf(
  signal: OtlpSignal,
  loaded: LoadedConfig,
  meta: StoreFacts["meta"],
  { platform, arch, now }: Context,
): Delivery {
  const settings = otlpSettings(loaded.config, { version: VERSION, instanceId: "", os: platform, arch });
  const url = settings[signal]?.url;
  const number = (name: string): number => Number(meta(`${signal}.${name}`) ?? "0");
  const problem = meta(`${signal}.last_reason`);
  return {
    endpoint: url === undefined ? null : redactUrl(url),
    why_not_sent: url === undefined ? (whyUnsent(signal, loaded) ?? NO_ENDPOINT) : null,
    last_ok: number("last_ok_ms") > 0 ? isoTime(number("last_ok_ms")) : null,
    last_problem: problem === undefined || problem === "" ? null : problem,
    last_rejected: number("last_rejected"),
    last_records: number("last_records"),
    size_limit: number("size_limit") > 0 ? number("size_limit") : null,
    not_before: number("not_before_ms") > now() ? isoTime(number("not_before_ms")) : null,
  };
}

const NO_ENDPOINT = "export is off (no endpoint)";
