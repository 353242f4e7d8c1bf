import { isUnknown } from "#config/config-state.ts";
import { AUDIT_PARTS } from "#core/audit/record.ts";
import { CAPTURE_LEVELS } from "#core/model/capture.ts";
import { isAtLeast, keepsContent, keepsNames } from "#core/rules/capture.ts";
import { CONTENT_ATTRIBUTES } from "#core/telemetry/attributes.ts";
import { attributesAtLevel } from "#core/telemetry/level.ts";
import { METRIC_SHAPES } from "#core/telemetry/shapes.ts";
import { digestOf } from "#kit/digest.ts";
import { eraseAudit } from "../audit.ts";
import { purgeContent, stripSpans } from "../content.ts";
import { mergeStreams } from "../merge-streams.ts";
import { readMeta, writeMeta } from "../meta.ts";
import type { CaptureContext } from "./context.ts";
import { ownNamesOf } from "./level.ts";
import { protectAttributes } from "./protect.ts";
import { markRemnants, removeRemnants } from "./remnants.ts";

/**
 * The settings with the previous drain's capture level if the configured one cannot be read: so that a typing error neither
 * deletes anything nor captures more than before.
 */
export function withLastKnownLevel(
  db: CaptureContext["db"],
  loaded: CaptureContext["loaded"],
): CaptureContext["loaded"] {
  if (!isUnknown(loaded, "capture")) return loaded;
  const before = CAPTURE_LEVELS.find((one) => one === readMeta(db, LEVEL));
  return before === undefined ? loaded : { ...loaded, config: { ...loaded.config, capture: before } };
}

/**
 * Applies changed settings to what is stored. If `capture` was lowered since the last drain, content is deleted from the queue
 * and from sent spans. Streams with names of repositories and tools are merged into streams without them; what no backend has
 * received yet is added once.
 */
export function applyCaptureSettings(drain: CaptureContext): void {
  const { db } = drain;
  const level = drain.loaded.config.capture;
  const before = readMeta(db, LEVEL);
  if (before !== level) db.transaction(() => applyLevel(drain, before));
  mergeRedactedStreams(drain);
  removeRemnants(drain);
}

// --- internal ---

const LEVEL = "capture.level";
/** Stored as a digest: only changes matter, and the patterns can contain secrets. */
const RULES = "redaction.rules";
/** Changes when names are redacted in another way and the program's version is the same. */
const EDITION = 2;

function applyLevel(drain: CaptureContext, before: string | undefined): void {
  const { db } = drain;
  const level = drain.loaded.config.capture;
  writeMeta(db, LEVEL, level);
  // Whatever the level was before: it may have names and no content
  if (!keepsNames(level)) {
    mergeStreams(db, METRIC_SHAPES, drain.now(), ({ attributes, resource }) =>
      attributesAtLevel(attributes, resource, level, ownNamesOf(drain)),
    );
  }
  if (!keepsContent(level)) {
    const parts = keepsNames(level) ? (["texts"] as const) : AUDIT_PARTS;
    if (eraseAudit(db, parts, drain.now(), `capture is ${level}`)) markRemnants(db);
  }
  const former = CAPTURE_LEVELS.find((one) => one === before) ?? "none";
  if (!keepsContent(former) || isAtLeast(level, former)) return;
  purgeContent(db);
  stripSpans(db, [...CONTENT_ATTRIBUTES]);
  markRemnants(db);
  drain.log(`capture is ${level} now: content that was kept before is deleted`);
}

/** If redaction rules changed, streams whose names are equal after redaction become one stream. */
function mergeRedactedStreams(drain: CaptureContext): void {
  const { db, loaded, version } = drain;
  const rules = String(digestOf("", JSON.stringify([version, EDITION, loaded.config.redaction])));
  if (readMeta(db, RULES) === rules) return;
  db.transaction(() => {
    writeMeta(db, RULES, rules);
    mergeStreams(db, METRIC_SHAPES, drain.now(), ({ attributes }) => protectAttributes(drain, attributes));
  });
}
