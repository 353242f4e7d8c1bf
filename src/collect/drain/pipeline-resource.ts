import type { SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { type Pipeline, pipelineOf } from "#store/session-pipeline.ts";
import { PIPELINE_VARIABLE } from "../intake/inbox-file.ts";
import type { Drain } from "./context.ts";

/**
 * The CI job that `run` named in an event's environment.
 *
 * @param recorded the variable in the event's environment. A repository can set it there, so it counts only if this drain has the
 *        same: `run` gives it to both, and a drain that a hook started ignores variables that a repository names
 * @returns `undefined`: none, or unknown, because another job left the event behind
 */
export function recordedPipeline(recorded: string | undefined, env: Drain["env"] = {}): Pipeline | undefined {
  if (recorded === undefined || recorded !== env[PIPELINE_VARIABLE]) return undefined;
  try {
    const given = Object.entries(JSON.parse(recorded) as object);
    const known = given.filter(([name, value]) => PIPELINE_ATTRIBUTES.has(name) && typeof value === "string");
    return known.length === 0 ? undefined : (Object.fromEntries(known) as Pipeline);
  } catch {
    return undefined;
  }
}

/** Resource attributes of a session's spans. Names for which the user set a value are left out. */
export function pipelineResource({ db, loaded }: Drain, sessionNumber: number): Pipeline {
  const { attributes } = loaded.config.resource;
  return Object.fromEntries(
    Object.entries(pipelineOf(db, sessionNumber)).filter(([name]) => !Object.hasOwn(attributes, name)),
  );
}

/** A span whose resource also names the CI job. Attributes that the span has already stay. */
export const withPipeline = (record: SpanRecord, pipeline: Pipeline): SpanRecord =>
  Object.keys(pipeline).length === 0 ? record : { ...record, resource: { ...pipeline, ...record.resource } };

// --- internal ---

const PIPELINE_ATTRIBUTES: ReadonlySet<string> = new Set([
  semconv.CICD_PIPELINE_NAME,
  semconv.CICD_PIPELINE_RUN_ID,
  semconv.CICD_PIPELINE_RUN_URL,
  semconv.CICD_PIPELINE_TASK_NAME,
  semconv.CICD_PIPELINE_TASK_RUN_ID,
  semconv.CICD_PIPELINE_TASK_RUN_URL,
]);
