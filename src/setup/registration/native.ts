import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readText } from "#agents/shared/native/exporters.ts";
import { addToReceiver, exportedFile, readReceiver, removeFromReceiver } from "#collect/native/receiver-file.ts";
import { allRecords, dropBackup, originalOf, recordOf, saveBackup, sha256 } from "#config/backup.ts";
import type { Context } from "#config/context.ts";
import { missingParent } from "#config/files.ts";
import { loadConfig } from "#config/load.ts";
import { knownTarget, refuseLocked, SettingError, setInFile, unsetInFile } from "#config/user-file.ts";
import type { Agent } from "#core/model/agent.ts";
import type { NativeAddress, NativeExport, NativeExporter, NativeForward } from "#core/model/native-export.ts";
import { UserError } from "#kit/errors.ts";
import { type DisablePlan, disabledText, planDisable, writeDisable } from "./disable.ts";
import { isOurs } from "./native-exporters.ts";
import {
  apply,
  edited,
  emptied,
  listed,
  readSettingsFiles,
  type Scope,
  type SettingsFile,
  targetOf,
} from "./settings.ts";

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

/** What switching it off changes: each file that has entries of ours, and what is left of it; `undefined`: it is removed. */
export interface NativeOff {
  readonly file: SettingsFile;
  readonly after: Uint8Array | undefined;
  readonly madeDirectory: string | undefined;
  /** Nobody has changed the file since. */
  readonly isUntouched: boolean;
}

/** @throws UserError if a file cannot be edited; FileError if one cannot be read */
export async function planNativeOff(agent: Agent, context: Context): Promise<readonly NativeOff[]> {
  const settings = (await agent.nativeExport?.())?.default.settings;
  if (settings === undefined) return [];
  const dir = nativeBackupDir(context);
  const records = (await allRecords(dir)).filter((record) => record.agent === agent.source);
  const paths = new Set([...records.map(({ path }) => path), await settings.path(targetOf(context))]);
  const files = await readSettingsFiles([...paths]);
  const changes = await Promise.all(
    files.map(async (file): Promise<readonly NativeOff[]> => {
      const { path, bytes, text } = file;
      if (bytes === undefined || text === undefined) return [];
      const record = await recordOf(dir, path);
      const original = record === undefined ? undefined : await originalOf(dir, record);
      const madeDirectory = record?.madeDirectory;
      if (record !== undefined && sha256(bytes) === record.afterSha256 && record.existed === (original !== undefined)) {
        return [{ file, after: original, madeDirectory, isUntouched: true }];
      }
      // Settings that do not mention us need not be readable
      if (record === undefined && !/127\.0\.0\.1:|native[/\\]+files/.test(text)) return [];
      const left = edited([file], () => settings.remove(text, original?.toString("utf8")));
      const kept = left === undefined && record?.existed !== false ? emptied(file) : left;
      const after = kept === undefined ? undefined : Buffer.from(kept);
      return after?.equals(bytes) ? [] : [{ file, after, madeDirectory, isUntouched: false }];
    }),
  );
  return changes.flat();
}

/** What `disable` would restore beside the hooks, one line each. */
export const nativeOffText = async (agent: Agent, context: Context): Promise<string> =>
  (await planNativeOff(agent, context))
    .map(({ file }) => `${agent.title}: its own telemetry would no longer come here (${file.path})\n`)
    .join("");

/** Agents whose settings have entries of ours, or that send to the receiver. */
export async function nativeSources(context: Context): Promise<readonly string[]> {
  const records = await allRecords(nativeBackupDir(context));
  const ports = readReceiver(context.places.stateDir)?.agents ?? [];
  return [...new Set([...records.map(({ agent }) => agent), ...ports])];
}

/** Restores the agent's settings, and forgets where its telemetry was handed on to. @returns the changed files */
export async function writeNativeOff(
  agent: Agent,
  changes: readonly NativeOff[],
  context: Context,
): Promise<readonly string[]> {
  const { stateDir, configPath } = context.places;
  for (const { file, after, madeDirectory } of changes) {
    await apply({ path: file.path, before: file.bytes, after, madeDirectory });
  }
  const dir = nativeBackupDir(context);
  for (const record of await allRecords(dir)) if (record.agent === agent.source) await dropBackup(dir, record.path);
  const receiver = readReceiver(stateDir);
  if (receiver?.agents.includes(agent.source)) await removeFromReceiver(stateDir, agent.source);
  await unsetInFile(`native.forward.${agent.source}`, configPath).catch(() => false);
  return changes.map(({ file }) => file.path);
}

/**
 * Undoes `enable` in one scope, and in the user's settings `enable --native` too. Both can have changed the same file: the later change
 * is undone first, so that each finds the file as it left it, and restores it byte for byte.
 *
 * @param plan of the hooks; `undefined`: there are none to remove
 * @returns what was done, in lines
 */
export async function disableOne(
  agent: Agent,
  plan: DisablePlan | undefined,
  scope: Scope,
  context: Context,
  everywhere = false,
): Promise<string> {
  const isUsers = scope === "user";
  const off = async () => (isUsers ? writeNativeOff(agent, await planNativeOff(agent, context), context) : []);
  const isLast = isUsers && (await planNativeOff(agent, context)).some(({ isUntouched }) => isUntouched);
  const paths = isLast ? [...(await off())] : [];
  if (plan !== undefined) {
    await writeDisable(isLast ? await planDisable(plan, scope, context, everywhere) : plan, context);
  }
  paths.push(...(await off()));
  const lines = paths.map((path) => `  its own telemetry no longer comes here, restored ${path}\n`);
  return `${plan === undefined ? "" : disabledText(plan)}${lines.join("")}`;
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

async function writeFile(plan: NativePlan, context: Context): Promise<void> {
  const { agent, native, file, after } = plan;
  if (file === undefined || after === undefined || !isNativeNew(plan)) return;
  const dir = nativeBackupDir(context);
  const { path, bytes, text } = file;
  const record = await recordOf(dir, path);
  const former = record === undefined ? undefined : await originalOf(dir, record);
  const isUntouched = record !== undefined && bytes !== undefined && sha256(bytes) === record.afterSha256;
  const without = text === undefined ? undefined : native.settings?.remove(text, former?.toString("utf8"));
  const original = isUntouched ? former : record === undefined ? bytes : without && Buffer.from(without);
  const madeDirectory = record?.madeDirectory ?? (await missingParent(path));
  const made = madeDirectory === undefined ? {} : { madeDirectory };
  const next = { path, afterSha256: sha256(after), at: new Date(context.now()).toISOString(), agent: agent.source };
  await saveBackup(dir, { ...next, scope: "user", ...made }, original || undefined);
  try {
    await apply({
      path,
      before: bytes,
      after: Buffer.from(after),
      madeDirectory,
      modes: { mode: 0o600, dirMode: 0o700 },
    });
  } catch (error) {
    if (record === undefined) await dropBackup(dir, path);
    else await saveBackup(dir, record, former);
    throw error;
  }
}

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
