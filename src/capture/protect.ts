import { keepsContentUnredacted } from "../model/capture.ts";
import type { Event } from "../model/event.ts";
import type { Repository } from "../model/session.ts";
import type { Attributes, Counted, MetricPoint, SpanRecord } from "../model/telemetry.ts";
import type { TranscriptEntry } from "../model/transcript.ts";
import { redactAttributes, redactCounted, redactNames, redactPoint, redactSpan } from "../privacy/records.ts";
import { CONTENT_ATTRIBUTES } from "../telemetry/attributes.ts";
import type { CaptureContext } from "./context.ts";
import { withStoredWrites } from "./written-files.ts";

// Everything is redacted twice: when it is stored, and again when it is sent, because the rules may have changed

type Protected = Pick<CaptureContext, "loaded" | "redact">;

/** A span without secrets. At `capture: full`, content is not redacted. */
export const protectSpan = ({ loaded, redact }: Protected, record: SpanRecord): SpanRecord =>
  redactSpan(record, redact, keepsContentUnredacted(loaded.config.capture) ? CONTENT_ATTRIBUTES : undefined);

export const protectPoint = ({ redact }: Protected, point: MetricPoint): MetricPoint => redactPoint(point, redact);

/** The attributes of a stream without secrets. */
export const protectAttributes = ({ redact }: Protected, attributes: Attributes): Attributes =>
  redactAttributes(attributes, redact);

export const protectCounts = ({ redact }: Protected, counts: readonly Counted[]): readonly Counted[] =>
  counts.map((counted) => redactCounted(counted, redact));

/** Also redacts secrets in the path of a written file. The path is never exported, so it keeps the name of the home folder. */
export function protectEvent(
  { redact, redactSecrets }: Pick<CaptureContext, "redact" | "redactSecrets">,
  event: Event,
): Event {
  const clean = redactNames(event, redact);
  if (clean.type !== "file.write") return clean;
  return { ...clean, data: { ...clean.data, path: redactSecrets(clean.data.path) } };
}

/** @param folder of the session, in which paths of written files are relative */
export const protectEntries = (
  { redact, redactSecrets }: Pick<CaptureContext, "redact" | "redactSecrets">,
  entries: readonly TranscriptEntry[],
  folder: string | undefined,
): readonly TranscriptEntry[] =>
  entries.map((entry) => withStoredWrites(redactNames(entry, redact), folder, redactSecrets));

export const protectRepository = ({ redact }: Protected, repository: Repository): Repository =>
  redactNames(repository, redact);

/** Resource attributes from the settings: secrets are redacted, but an address that the user set stays. */
export const protectResource = (
  { redactSecrets }: Pick<CaptureContext, "redactSecrets">,
  resource: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => redactAttributes(resource, redactSecrets);
