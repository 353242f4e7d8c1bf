import type { SpanRecord } from "#core/model/telemetry.ts";
import * as semconv from "#core/telemetry/semconv.ts";
import { shownUrl } from "#send/network/shown-url.ts";
import { type Pipeline, pipelineOf } from "#store/sessions.ts";
import { PIPELINE_VARIABLE } from "../intake/inbox-file.ts";
import type { Drain } from "./context.ts";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The CI job in which this process runs, as resource attributes of OpenTelemetry's conventions, from the variables of well-known
 * systems. Addresses have no credentials, and no queries except Azure's number of the run. Empty outside of CI.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/resource/cicd/
 */
export function ciJob(env: Env): Readonly<Record<string, string>> {
  const read = SYSTEMS.find(({ mark }) => isSet(env[mark]))?.read;
  if (read === undefined) return {};
  const { name, runId, runUrl, task, taskRunId, taskRunUrl } = read(env);
  const all = {
    [semconv.CICD_PIPELINE_NAME]: name,
    [semconv.CICD_PIPELINE_RUN_ID]: runId,
    [semconv.CICD_PIPELINE_RUN_URL]: runUrl,
    [semconv.CICD_PIPELINE_TASK_NAME]: task,
    [semconv.CICD_PIPELINE_TASK_RUN_ID]: taskRunId,
    [semconv.CICD_PIPELINE_TASK_RUN_URL]: taskRunUrl,
  };
  return Object.fromEntries(Object.entries(all).filter((pair): pair is [string, string] => isSet(pair[1])));
}

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

interface Job {
  readonly name?: string | undefined;
  readonly runId?: string | undefined;
  readonly runUrl?: string | undefined;
  readonly task?: string | undefined;
  readonly taskRunId?: string | undefined;
  readonly taskRunUrl?: string | undefined;
}

/** Each system: a variable that only this one sets, and where its values are. */
const SYSTEMS: readonly { readonly mark: string; readonly read: (env: Env) => Job }[] = [
  {
    // https://docs.github.com/actions/reference/variables-reference. The id of the job's run is in no variable
    mark: "GITHUB_ACTIONS",
    read: (env) => ({
      name: env["GITHUB_WORKFLOW"],
      runId: env["GITHUB_RUN_ID"],
      runUrl: under(env["GITHUB_SERVER_URL"], env["GITHUB_REPOSITORY"], "actions", "runs", env["GITHUB_RUN_ID"]),
      task: env["GITHUB_JOB"],
    }),
  },
  {
    // https://docs.gitlab.com/ci/variables/predefined_variables/
    mark: "GITLAB_CI",
    read: (env) => ({
      name: env["CI_PIPELINE_NAME"],
      runId: env["CI_PIPELINE_ID"],
      runUrl: addressOf(env["CI_PIPELINE_URL"]),
      task: env["CI_JOB_NAME"],
      taskRunId: env["CI_JOB_ID"],
      taskRunUrl: addressOf(env["CI_JOB_URL"]),
    }),
  },
  {
    // https://learn.microsoft.com/azure/devops/pipelines/build/variables
    mark: "TF_BUILD",
    read: (env) => ({
      name: env["BUILD_DEFINITIONNAME"],
      runId: env["BUILD_BUILDID"],
      runUrl: azureRun(env),
      task: env["SYSTEM_JOBDISPLAYNAME"],
      taskRunId: env["SYSTEM_JOBID"],
    }),
  },
  {
    // https://buildkite.com/docs/pipelines/configure/environment-variables
    mark: "BUILDKITE",
    read: (env) => ({
      name: env["BUILDKITE_PIPELINE_NAME"],
      runId: env["BUILDKITE_BUILD_ID"],
      runUrl: addressOf(env["BUILDKITE_BUILD_URL"]),
      task: env["BUILDKITE_LABEL"],
      taskRunId: env["BUILDKITE_JOB_ID"],
    }),
  },
  {
    // https://circleci.com/docs/reference/variables/. A workflow is the run; its name is in no variable
    mark: "CIRCLECI",
    read: (env) => ({
      runId: env["CIRCLE_WORKFLOW_ID"],
      task: env["CIRCLE_JOB"],
      taskRunId: env["CIRCLE_BUILD_NUM"],
      taskRunUrl: addressOf(env["CIRCLE_BUILD_URL"]),
    }),
  },
  {
    // https://www.jenkins.io/doc/book/pipeline/jenkinsfile/#using-environment-variables. BUILD_NUMBER is unique only in one job
    mark: "JENKINS_URL",
    read: (env) => ({
      name: env["JOB_NAME"],
      runId: env["BUILD_TAG"],
      runUrl: addressOf(env["BUILD_URL"]),
      task: env["STAGE_NAME"],
    }),
  },
];

const isSet = (value: string | undefined): boolean => value !== undefined && value !== "";

const addressOf = (url: string | undefined): string | undefined =>
  url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url) ? shownUrl(url) : undefined;

/** An address below another one. `undefined` if a part is missing. */
function under(base: string | undefined, ...parts: readonly (string | undefined)[]): string | undefined {
  const start = addressOf(base);
  if (start === undefined || !parts.every(isSet)) return undefined;
  return addressOf(`${start.replace(/\/$/, "")}/${parts.join("/")}`);
}

function azureRun(env: Env): string | undefined {
  const page = under(env["SYSTEM_COLLECTIONURI"], env["SYSTEM_TEAMPROJECT"], "_build", "results");
  const id = env["BUILD_BUILDID"];
  return page === undefined || !isSet(id) ? undefined : `${page}?buildId=${encodeURIComponent(id ?? "")}`;
}

const PIPELINE_ATTRIBUTES: ReadonlySet<string> = new Set([
  semconv.CICD_PIPELINE_NAME,
  semconv.CICD_PIPELINE_RUN_ID,
  semconv.CICD_PIPELINE_RUN_URL,
  semconv.CICD_PIPELINE_TASK_NAME,
  semconv.CICD_PIPELINE_TASK_RUN_ID,
  semconv.CICD_PIPELINE_TASK_RUN_URL,
]);
