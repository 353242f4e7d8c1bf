import { createHash } from "node:crypto";
import { isUnknown } from "../config/unknown.ts";
import { CAPTURE_LEVELS, type CaptureLevel, isAtLeast, keepsContent, stricter } from "../model/capture.ts";
import { cardOf } from "../model/card-of.ts";
import type { Counted } from "../model/telemetry.ts";
import { purgeContent, stripSpans } from "../store/content.ts";
import { mergeStreams } from "../store/merge-streams.ts";
import { readMeta, writeMeta } from "../store/meta.ts";
import type { StoredSession } from "../store/sessions.ts";
import { vacuum } from "../store/vacuum.ts";
import { CONTENT_ATTRIBUTES } from "../telemetry/attributes.ts";
import { attributesAtLevel, incrementAtLevel, type OwnNamesOf } from "../telemetry/level.ts";
import { METRIC_SHAPES } from "../telemetry/shapes.ts";
import type { CaptureContext } from "./context.ts";
import { protectAttributes } from "./protect.ts";

/** How much of a session is kept: what the user set, or less where the project it runs in asks for less. */
export const levelOf = (
  { loaded }: Pick<CaptureContext, "loaded">,
  session: Pick<StoredSession, "capture">,
): CaptureLevel => stricter(loaded.config.capture, session.capture ?? "full");

/** The names that agents came with, from their cards. */
export const ownNamesOf =
  (deps: Pick<CaptureContext, "agents">): OwnNamesOf =>
  (source) =>
    cardOf(deps, source)?.own;

/** What facts count, as a level lets it leave. */
export const countsAtLevel = (
  deps: Pick<CaptureContext, "agents">,
  counts: readonly Counted[],
  level: CaptureLevel,
): readonly Counted[] =>
  level !== "none"
    ? counts
    : counts.map(({ key, increments }) => ({
        key,
        increments: increments.map((one) => incrementAtLevel(one, level, ownNamesOf(deps))),
      }));

/**
 * The settings with the level that the drain before had, where nobody can read which one the user wants: a typing error
 * deletes nothing that was kept, and keeps no more than before.
 */
export function atKnownLevel(db: CaptureContext["db"], loaded: CaptureContext["loaded"]): CaptureContext["loaded"] {
  if (!isUnknown(loaded, "capture")) return loaded;
  const before = CAPTURE_LEVELS.find((one) => one === readMeta(db, LEVEL));
  return before === undefined ? loaded : { ...loaded, config: { ...loaded.config, capture: before } };
}

/**
 * Where `capture` was lowered since the last drain: content that is still there goes, from what waits and from what was
 * sent. Streams with names of repositories and tools become streams without, what no backend has of them added once.
 */
export function enforceLevel(drain: CaptureContext): void {
  const { db } = drain;
  const level = drain.loaded.config.capture;
  const before = readMeta(db, LEVEL);
  if (before !== level) db.transaction(() => change(drain, before));
  foldRedacted(drain);
  removeRemnants(drain);
}

/** What was just deleted may be found in the store's file as it stood before: until `removeRemnants`. */
export const noteRemnants = (db: CaptureContext["db"]): void => writeMeta(db, REMNANTS, YES);

/** SQLite leaves what was deleted in its pages until it needs them; written anew, the file has none of it. */
export function removeRemnants(drain: CaptureContext): void {
  const { db, places, report } = drain;
  if (readMeta(db, REMNANTS) !== YES) return;
  const done = vacuum(db, places.storePath);
  if (typeof done === "string") {
    const line = `content that was deleted may still be found in ${JSON.stringify(places.storePath)}: ${done}`;
    if (report.problems.includes(line)) return;
    report.problems.push(line);
    drain.log(line);
    return;
  }
  db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  writeMeta(db, REMNANTS, "0");
}

// --- internal ---

const LEVEL = "capture.level";
/** Only its equality matters: what a rule looks for is nobody's business. */
const RULES = "redaction.rules";
/** Set while pages of the store's file may hold content that no row holds any more. */
const REMNANTS = "capture.remnants";
const YES = "1";

function change(drain: CaptureContext, before: string | undefined): void {
  const { db } = drain;
  const level = drain.loaded.config.capture;
  writeMeta(db, LEVEL, level);
  // A store of an earlier version has names and no content
  if (level === "none") {
    mergeStreams(db, METRIC_SHAPES, drain.now(), ({ attributes, resource }) =>
      attributesAtLevel(attributes, resource, level, ownNamesOf(drain)),
    );
  }
  const former = CAPTURE_LEVELS.find((one) => one === before) ?? "none";
  if (!keepsContent(former) || isAtLeast(level, former)) return;
  purgeContent(db);
  stripSpans(db, [...CONTENT_ATTRIBUTES]);
  noteRemnants(db);
  drain.log(`capture is ${level} now: content that was kept before is deleted`);
}

/** Where other rules take names out than before: streams whose names become one are one stream, not several of one name. */
function foldRedacted(drain: CaptureContext): void {
  const { db, loaded, version } = drain;
  const rules = createHash("sha256")
    .update(JSON.stringify([version, loaded.config.redaction]))
    .digest("hex");
  if (readMeta(db, RULES) === rules) return;
  db.transaction(() => {
    writeMeta(db, RULES, rules);
    mergeStreams(db, METRIC_SHAPES, drain.now(), ({ attributes }) => protectAttributes(drain, attributes));
  });
}
