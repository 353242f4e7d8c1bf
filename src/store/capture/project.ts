import { type ProjectSettings, readProjectSettings } from "#config/project.ts";
import { AUDIT_PARTS } from "#core/audit/record.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { SpanRecord } from "#core/model/telemetry.ts";
import { isAtLeast, keepsContent, keepsNames } from "#core/rules/capture.ts";
import { CONTENT_ATTRIBUTES } from "#core/telemetry/attributes.ts";
import { eraseAudit } from "../audit.ts";
import { removeChanges } from "../changes.ts";
import { stripSpans } from "../content.ts";
import { readMeta, writeMeta } from "../meta.ts";
import { hasPacked } from "../packed.ts";
import { packedFolders } from "../packed-rows.ts";
import { dropContent, excludeSession, projectOf, setProjectAttributes } from "../project.ts";
import { limitCapture, type StoredSession, sessionById, sessionsIn, sessionsToSend } from "../sessions.ts";
import { type CaptureContext, reportProblemOnce } from "./context.ts";
import { levelOf } from "./level.ts";
import { forgetNamesOfSession, forgetNamesOfStreams } from "./names.ts";
import { markRemnants } from "./remnants.ts";

/**
 * Reads the settings of the projects in these folders, before anything of a session in them is stored. Each folder is read once
 * per drain: a changed file counts from the next drain on. `undefined` folders are skipped.
 */
export async function loadProjectSettings(
  drain: CaptureContext,
  folders: readonly (string | undefined)[],
): Promise<void> {
  const known = settingsByFolder(drain);
  for (const folder of new Set(folders)) {
    if (folder === undefined || known.has(folder)) continue;
    const settings = await readProjectSettings(folder);
    known.set(folder, settings);
    for (const warning of settings.warnings) reportProblemOnce(drain, warning);
  }
}

/** Whether the project in a folder has settings. False for a folder that was not loaded. */
export function hasProjectSettings(drain: CaptureContext, folder: string | undefined): boolean {
  const settings = settingsByFolder(drain).get(folder ?? "");
  if (settings === undefined) return false;
  if (settings.disabled || settings.withoutChanges) return true;
  return settings.capture !== undefined || Object.keys(settings.attributes).length > 0;
}

/**
 * Whether no commits and changes of a session are kept: its project or the user does not want it.
 *
 * @param cwd the folder that an event names: at capture level none the store knows no folder
 */
export const hasChangesOff = (drain: CaptureContext, session: StoredSession, cwd?: string): boolean => {
  const folder = session.cwd ?? sessionById(drain.db, session.id).cwd ?? cwd ?? "";
  return !drain.loaded.config.changes.enabled || settingsByFolder(drain).get(folder)?.withoutChanges === true;
};

/** Folders that events name. */
export const foldersOf = (events: readonly Event[]): readonly (string | undefined)[] => events.map(({ cwd }) => cwd);

/**
 * Applies the settings of a session's project. The project is that of the first folder reported for the session; a restriction
 * stays, even if the file that set it is removed. Call it inside a transaction, before the session's facts are stored.
 *
 * @param cwd used if the session has no folder yet
 * @returns the session as it is now; `undefined` if nothing of it may be kept
 */
export function applyProjectSettings(
  drain: CaptureContext,
  session: StoredSession,
  cwd: string | undefined = undefined,
): StoredSession | undefined {
  const { db } = drain;
  const settings = settingsByFolder(drain).get(session.cwd ?? cwd ?? "");
  if (settings?.disabled === true && !projectOf(db, session.id).excluded) {
    forgetNamesOfStreams(drain, session);
    excludeSession(db, session);
    eraseAudit(db, AUDIT_PARTS, drain.now(), "the project is disabled", session);
    markRemnants(db);
  }
  if (projectOf(db, session.id).excluded) return undefined;
  if (settings === undefined) return session;
  if (settings.withoutChanges && removeChanges(db, session.id)) markRemnants(db);
  setProjectAttributes(db, session, settings.attributes);
  if (settings.capture === undefined) return session;
  const before = levelOf(drain, session);
  limitCapture(db, session, settings.capture);
  const isLowered = !isAtLeast(settings.capture, before);
  // Content may have been stored before the folder was known, or before the file existed
  if (isLowered || !keepsContent(settings.capture)) dropContent(db, session);
  if (isLowered && stripSpans(db, [...CONTENT_ATTRIBUTES], session.id) > 0) markRemnants(db);
  if (isLowered && !keepsContent(settings.capture)) {
    const parts = keepsNames(settings.capture) ? (["texts"] as const) : AUDIT_PARTS;
    const reason = `capture of the project is ${settings.capture}`;
    if (eraseAudit(db, parts, drain.now(), reason, session)) markRemnants(db);
  }
  if (keepsNames(before) && !keepsNames(settings.capture)) {
    forgetNamesOfStreams(drain, session);
    if (forgetNamesOfSession(drain, session)) markRemnants(db);
  }
  return sessionById(db, session.id);
}

/** Loads and applies the project settings of a session whose folder, if known, is in the store. Result as above. */
export async function loadAndApplyProjectSettings(
  drain: CaptureContext,
  session: StoredSession,
): Promise<StoredSession | undefined> {
  await loadProjectSettings(drain, [session.cwd]);
  return drain.db.transaction(() => applyProjectSettings(drain, session));
}

/**
 * Applies the settings of every project that has queued spans or recent sessions, so that nothing is sent that a project
 * forbids now, even if its sessions have no new events. Once an hour, also applies the settings of imported sessions.
 */
export async function applyProjectSettingsBeforeSending(drain: CaptureContext): Promise<void> {
  const sessions = [...sessionsToSend(drain.db, RECENT_SESSIONS), ...foldersOfPast(drain)];
  await loadProjectSettings(
    drain,
    sessions.map(({ cwd }) => cwd),
  );
  const restricted = new Set(sessions.flatMap(({ cwd }) => (hasProjectSettings(drain, cwd) ? [cwd] : [])));
  for (const cwd of restricted) {
    for (const id of sessionsIn(drain.db, cwd)) {
      drain.db.transaction(() => applyProjectSettings(drain, sessionById(drain.db, id)));
    }
  }
}

/** Attributes that a session's project adds to its spans. Names for which the user set a value are left out. */
export function projectAttributes(
  { db, loaded }: CaptureContext,
  sessionNumber: number,
): Readonly<Record<string, string>> {
  const { attributes } = loaded.config.resource;
  const added = Object.entries(projectOf(db, sessionNumber).attributes);
  return Object.fromEntries(added.filter(([name]) => !Object.hasOwn(attributes, name)));
}

/** A span with its project's attributes. The span's own attributes have priority. */
export const withProjectAttributes = (record: SpanRecord, added: Readonly<Record<string, string>>): SpanRecord =>
  Object.keys(added).length === 0 ? record : { ...record, attributes: { ...added, ...record.attributes } };

// --- internal ---

/** Imported sessions are not sent, so their projects are checked only this often. */
const PAST_CHECK_INTERVAL_MS = 3_600_000;
const LAST_PAST_CHECK = "packed.projects_ms";

/** Folders of imported sessions that still have names; none if they were checked within the hour. */
function foldersOfPast({ db, now }: CaptureContext): ReturnType<typeof packedFolders> {
  const sinceMs = Math.abs(now() - Number(readMeta(db, LAST_PAST_CHECK) ?? "0"));
  if (!hasPacked(db) || sinceMs < PAST_CHECK_INTERVAL_MS) return [];
  writeMeta(db, LAST_PAST_CHECK, String(now()));
  return packedFolders(db);
}

/** Their counts may be unsent although their spans are not queued any more. */
const RECENT_SESSIONS = 100;

const settingsByRun = new WeakMap<CaptureContext["report"], Map<string, ProjectSettings>>();

/** By folder, for this drain. */
function settingsByFolder({ report }: CaptureContext): Map<string, ProjectSettings> {
  const own = settingsByRun.get(report) ?? new Map<string, ProjectSettings>();
  settingsByRun.set(report, own);
  return own;
}
