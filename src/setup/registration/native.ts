import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readText } from "#agents/shared/native/exporters.ts";
import { addToReceiver, exportedFile, readReceiver, removeFromReceiver } from "#collect/native/receiver-file.ts";
import { allRecords } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import { knownTarget, refuseLocked, SettingError, setInFile, unsetInFile } from "#config/user-file.ts";
import type { Agent } from "#core/model/agent.ts";
import type {
  NativeAddress,
  NativeExport,
  NativeExporter,
  NativeForward,
  NativeSettings,
} from "#core/model/native-export.ts";
import { UserError } from "#kit/errors.ts";
import { isOurs } from "./native-exporters.ts";
import { type EntriesOff, type OwnEntries, planEntriesOff, writeEntries, writeEntriesOff } from "./own-entries.ts";
import { edited, listed, readSettingsFiles, type SettingsFile, targetOf } from "./settings.ts";

/** What `enable --native` changes for one agent. */
export interface NativePlan {
  readonly agent: Agent;
  readonly native: NativeExport;
  /** `undefined`: only variables switch it on. */
  readonly file: SettingsFile | undefined;
  readonly after: string | undefined;
  readonly address: NativeAddress;
  /** The user's exporter, which it replaces. */
  readonly forward: NativeForward | undefined;
}

/**
 * Computes what makes the agent export to us; writes nothing.
 *
 * @param forward replaces an exporter that the user has, and hands on what it would have sent
 * @throws UserError if the agent has no OpenTelemetry, exports elsewhere, or its settings cannot be edited
 */
export async function planNative(agent: Agent, forward: boolean, context: Context): Promise<NativePlan> {
  const { title } = agent;
  const native = (await agent.nativeExport?.())?.default;
  if (native === undefined) {
    throw new UserError("E_AGENT", `${title} has no OpenTelemetry of its own that openhook-otel can join`);
  }
  const target = targetOf(context);
  const isForeign = (exporter: NativeExporter): boolean =>
    exporter.signals.some((signal) => native.signals.includes(signal)) && !isOurs(exporter, agent, context);
  const theirs = (await native.find(target)).find(isForeign);
  const { settings } = native;
  const [file] = settings === undefined ? [] : await readSettingsFiles([await settings.path(target)]);
  if (theirs !== undefined && !forward) throw kept(agent, theirs, settings?.forwardOf !== undefined);
  const replaced = theirs === undefined ? undefined : settings?.forwardOf?.(file?.text ?? "");
  if (theirs !== undefined && replaced === undefined) throw cannotForward(agent, theirs);
  const address = addressOf(agent, native, context);
  const plan = { agent, native, file, after: undefined, address, forward: replaced };
  return withText(plan, context, isForeign);
}

/** What switching it off did. @param wasOn whether the agent sent it to us */
export const switchedOffText = (wasOn: boolean, restored: readonly string[]): string =>
  restored.length > 0
    ? `its own telemetry no longer comes here, restored ${listed(restored)}`
    : `its own telemetry ${wasOn ? "no longer comes" : "did not come"} here`;

/** What to know before an agent is started that cannot leave content out; empty for others. */
export const contentWarning = ({ always }: NativeExport): string =>
  always === undefined
    ? ""
    : `It always contains ${always}: another user of this machine can read them who takes the port while the receiver does not run.\n`;

/** Whether the agent's settings file does not export to us yet. */
export const isNativeNew = ({ file, after }: NativePlan): boolean => file !== undefined && file.text !== after;

/**
 * Makes the agent export to us. Its settings file is backed up before the first change.
 *
 * @returns the plan with the real address
 * @throws FileError if a file cannot be written, or changed since; then nothing is changed
 */
export async function writeNative(plan: NativePlan, context: Context): Promise<NativePlan> {
  const { agent, native, forward } = plan;
  const { stateDir, configPath } = context.places;
  const known = readReceiver(stateDir);
  const wasKnown = known?.agents.includes(agent.source) === true;
  const isForwarded = known?.forwards.includes(agent.source) === true;
  const key = `native.forward.${agent.source}`;
  if (forward !== undefined)
    await withSettingErrors(async () => refuseLocked(knownTarget(key), await loadConfig(context)));
  try {
    if (native.to === "file") await mkdir(dirname(plan.address.file), { recursive: true, mode: 0o700 });
    else await addToReceiver(stateDir, agent.source, forward !== undefined || isForwarded);
    const real = await withText({ ...plan, address: addressOf(agent, native, context) }, context, () => false);
    if (forward !== undefined) await withSettingErrors(() => setInFile(knownTarget(key), forward, configPath));
    await writeFile(real, context);
    return real;
  } catch (error) {
    if (!wasKnown && native.to === "port") await removeFromReceiver(stateDir, agent.source);
    if (forward !== undefined) await unsetInFile(key, configPath).catch(() => false);
    throw error;
  }
}

/** @throws UserError if a file cannot be edited; FileError if one cannot be read */
export async function planNativeOff(agent: Agent, context: Context): Promise<readonly EntriesOff[]> {
  const settings = (await agent.nativeExport?.())?.default.settings;
  return settings === undefined ? [] : planEntriesOff(entriesOf(agent, settings, context), context);
}

/** Agents whose settings have entries of ours, or that send to the receiver. */
export async function nativeSources(context: Context): Promise<readonly string[]> {
  const records = await allRecords(nativeBackupDir(context));
  const ports = readReceiver(context.places.stateDir)?.agents ?? [];
  return [...new Set([...records.map(({ agent }) => agent), ...ports])];
}

/** Restores the agent's settings, and forgets where its telemetry was handed on to. @returns the changed files */
export async function writeNativeOff(
  agent: Agent,
  changes: readonly EntriesOff[],
  context: Context,
): Promise<readonly string[]> {
  const { stateDir, configPath } = context.places;
  const paths = await writeEntriesOff({ agent, backups: nativeBackupDir(context) }, changes);
  const receiver = readReceiver(stateDir);
  if (receiver?.agents.includes(agent.source)) await removeFromReceiver(stateDir, agent.source);
  await unsetInFile(`native.forward.${agent.source}`, configPath).catch(() => false);
  return paths;
}

// --- internal ---

/** Apart from the backups of hooks, because both can change the same file. */
const nativeBackupDir = ({ places }: Pick<Context, "places">): string => join(places.backupDir, "native");

function addressOf({ source }: Agent, { to }: NativeExport, { places }: Context): NativeAddress {
  const known = to === "port" ? readReceiver(places.stateDir) : undefined;
  return {
    url: `http://127.0.0.1:${known?.port ?? 1}/${source}`,
    token: known?.token ?? "0".repeat(43),
    file: exportedFile(places.stateDir, source),
  };
}

/** The plan with the new text, which is checked: something stronger than the settings file may still lead elsewhere. */
async function withText(
  plan: NativePlan,
  context: Context,
  isForeign: (exporter: NativeExporter) => boolean,
): Promise<NativePlan> {
  const { agent, native, file, address, forward } = plan;
  if (native.settings === undefined || file === undefined) return plan;
  const { settings } = native;
  const after = edited([file], () => settings.add(file.text, address, forward));
  const read = async (path: string) => (path === file.path ? after : readText(path));
  const found = (await native.find(targetOf(context), read)).filter(({ endpoint }) => endpoint !== address.url);
  const stronger = found.find(isForeign);
  if (stronger !== undefined) {
    const why = `${agent.title} would still export to ${stronger.endpoint}, because of ${stronger.where}`;
    throw new UserError("E_NATIVE", `${why}; nothing was changed`);
  }
  return { ...plan, after };
}

async function writeFile({ agent, native, file, after }: NativePlan, context: Context): Promise<void> {
  const { settings } = native;
  if (settings === undefined || file === undefined || after === undefined || file.text === after) return;
  await writeEntries(entriesOf(agent, settings, context), file, after, context);
}

const entriesOf = (agent: Agent, { path, remove }: NativeSettings, context: Context): OwnEntries => ({
  agent,
  backups: nativeBackupDir(context),
  path,
  remove,
  mark: /127\.0\.0\.1:|native[/\\]+files/,
});

function kept({ title }: Agent, { endpoint, where }: NativeExporter, canForward: boolean): UserError {
  const how = canForward ? "; --forward lets it send to openhook-otel, which hands all of it on unchanged" : "";
  return new UserError("E_NATIVE", `${title} already exports to ${endpoint} (${where}), which stays as it is${how}`);
}

const cannotForward = ({ title }: Agent, { endpoint, where }: NativeExporter): UserError =>
  new UserError(
    "E_NATIVE",
    `${title} exports to ${endpoint} (${where}) in a way that cannot be handed on unchanged; nothing was changed`,
  );

async function withSettingErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof SettingError) throw new UserError(error.code, error.message, 2, { cause: error });
    throw error;
  }
}
