import { posix, win32 } from "node:path";
import type { CaptureLevel } from "#core/model/capture.ts";
import type { Event } from "#core/model/event-schema.ts";
import type { FileWrite } from "#core/model/file-write.ts";
import type { Repository } from "#core/model/session.ts";
import type { Attributes, Counted, MetricPoint, SpanRecord } from "#core/model/telemetry.ts";
import type { TranscriptEntry } from "#core/model/transcript.ts";
import {
  type Content,
  redactAttributes,
  redactCounted,
  redactNames,
  redactPoint,
  redactSpan,
} from "#core/privacy/records.ts";
import type { Redact } from "#core/privacy/redact.ts";
import { keepsContentUnredacted } from "#core/rules/capture.ts";
import { limitPath } from "#core/rules/limits.ts";
import { CONTENT_ATTRIBUTES } from "#core/telemetry/attributes.ts";
import { isAbsolutePath } from "#kit/file-uri.ts";
import type { CaptureContext } from "./context.ts";

// Everything is redacted twice: when it is stored, and again when it is sent, because the rules may have changed

type Protected = Pick<CaptureContext, "redactName">;

/** A span without secrets. */
export const protectSpan = (
  { loaded, redact, redactName }: Pick<CaptureContext, "loaded" | "redact" | "redactName">,
  record: SpanRecord,
): SpanRecord => redactSpan(record, redactName, contentAtLevel(loaded.config.capture, redact));

/** How content is redacted: at `capture: full`, not at all. */
export const contentAtLevel = (level: CaptureLevel, redact: Redact): Content => ({
  attributes: CONTENT_ATTRIBUTES,
  redact: keepsContentUnredacted(level) ? (text) => text : redact,
});

export const protectPoint = ({ redactName }: Protected, point: MetricPoint): MetricPoint =>
  redactPoint(point, redactName);

/** The attributes of a stream without secrets. */
export const protectAttributes = ({ redactName }: Protected, attributes: Attributes): Attributes =>
  redactAttributes(attributes, redactName);

export const protectCounts = ({ redactName }: Protected, counts: readonly Counted[]): readonly Counted[] =>
  counts.map((counted) => redactCounted(counted, redactName));

/** Also redacts secrets in the path of a written file. The path is never exported, so it keeps the name of the home folder. */
export function protectEvent(
  { redactName, redactSecrets }: Pick<CaptureContext, "redactName" | "redactSecrets">,
  event: Event,
): Event {
  const clean = redactNames(event, redactName);
  if (clean.type !== "file.write") return clean;
  return { ...clean, data: { ...clean.data, path: redactSecrets(clean.data.path) } };
}

/** @param folder of the session, in which paths of written files are relative */
export const protectEntries = (
  { redactName, redactSecrets }: Pick<CaptureContext, "redactName" | "redactSecrets">,
  entries: readonly TranscriptEntry[],
  folder: string | undefined,
): readonly TranscriptEntry[] =>
  entries.map((entry) => withStoredWrites(redactNames(entry, redactName), folder, redactSecrets));

export const protectRepository = ({ redactName }: Protected, repository: Repository): Repository =>
  redactNames(repository, redactName);

/** Resource attributes from the settings: secrets are redacted, but an address that the user set stays. */
export const protectResource = (
  { redactSecrets }: Pick<CaptureContext, "redactSecrets">,
  resource: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => redactAttributes(resource, redactSecrets);

/** A call that changes more places than this writes generated files. */
export const MAX_WRITES = 500;

/** A relative path is one in the folder, whatever this machine's system. */
export function absolutePath(path: string, folder: string | undefined): string {
  if (folder === undefined || isAbsolutePath(path) || !isAbsolutePath(folder)) return path;
  return (folder.startsWith("/") ? posix : win32).join(folder, path);
}

/**
 * What a call wrote, as it is stored: without paths that cannot be stored, and without secrets in them. The files stay on this machine, so
 * their home folder remains.
 *
 * @param clean removes secrets from an absolute path
 * @returns `undefined` if nothing is left
 */
export function storedWrites(
  files: readonly FileWrite[],
  folder: string | undefined,
  clean: (path: string) => string,
): readonly FileWrite[] | undefined {
  const kept = files.slice(0, MAX_WRITES).flatMap((file): readonly FileWrite[] => {
    const given: string | undefined = file.path;
    const path = given === undefined ? undefined : limitPath(absolutePath(given, folder));
    if (path === undefined || path === "") return [];
    const cleaned = clean(path);
    return [cleaned === given ? file : { ...file, path: cleaned }];
  });
  return kept.length === 0 ? undefined : kept;
}

/** An entry with its written files as they are stored. @returns the same object if it has none */
export function withStoredWrites(
  entry: TranscriptEntry,
  folder: string | undefined,
  redactSecrets: Redact,
): TranscriptEntry {
  if ((entry.kind !== "tool_use" && entry.kind !== "tool_result") || entry.files === undefined) return entry;
  const { files, ...rest } = entry;
  const stored = storedWrites(files, folder, redactSecrets);
  return stored === undefined ? rest : { ...rest, files: stored };
}
