import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ciJob, recordedPipeline } from "#collect/drain/ci-job.ts";
import { openDatabase } from "#store/database.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { Replay } from "../support/replay.ts";

describe("the attributes of a CI job", () => {
  test.each([
    [
      "GitHub Actions",
      {
        GITHUB_ACTIONS: "true",
        GITHUB_WORKFLOW: "Release",
        GITHUB_RUN_ID: "4711",
        GITHUB_SERVER_URL: "https://github.com",
        GITHUB_REPOSITORY: "acme/shop",
        GITHUB_JOB: "review",
      },
      {
        "cicd.pipeline.name": "Release",
        "cicd.pipeline.run.id": "4711",
        "cicd.pipeline.run.url.full": "https://github.com/acme/shop/actions/runs/4711",
        "cicd.pipeline.task.name": "review",
      },
    ],
    [
      "GitLab CI, without credentials and queries in addresses, and without addresses that are no web pages",
      {
        GITLAB_CI: "true",
        CI_PIPELINE_NAME: "Nightly",
        CI_PIPELINE_ID: "5",
        CI_PIPELINE_URL: "https://user:glpat-secret@git.example.com/acme/shop/-/pipelines/5?private_token=secret#x",
        CI_JOB_NAME: "review",
        CI_JOB_ID: "6",
        CI_JOB_URL: "javascript:alert(1)",
      },
      {
        "cicd.pipeline.name": "Nightly",
        "cicd.pipeline.run.id": "5",
        "cicd.pipeline.run.url.full": "https://git.example.com/acme/shop/-/pipelines/5",
        "cicd.pipeline.task.name": "review",
        "cicd.pipeline.task.run.id": "6",
      },
    ],
    [
      "Azure Pipelines",
      {
        TF_BUILD: "True",
        BUILD_DEFINITIONNAME: "Shop",
        BUILD_BUILDID: "88",
        SYSTEM_COLLECTIONURI: "https://dev.azure.com/acme/",
        SYSTEM_TEAMPROJECT: "web shop",
        SYSTEM_JOBDISPLAYNAME: "Review",
        SYSTEM_JOBID: "12f1170f-54f2-53f3-20dd-22fc7dff55f9",
      },
      {
        "cicd.pipeline.name": "Shop",
        "cicd.pipeline.run.id": "88",
        "cicd.pipeline.run.url.full": "https://dev.azure.com/acme/web%20shop/_build/results?buildId=88",
        "cicd.pipeline.task.name": "Review",
        "cicd.pipeline.task.run.id": "12f1170f-54f2-53f3-20dd-22fc7dff55f9",
      },
    ],
    [
      "Buildkite",
      {
        BUILDKITE: "true",
        BUILDKITE_PIPELINE_NAME: "Shop",
        BUILDKITE_BUILD_ID: "4735ba57",
        BUILDKITE_BUILD_URL: "https://buildkite.com/acme/shop/builds/1514",
        BUILDKITE_LABEL: ":robot: Review",
        BUILDKITE_JOB_ID: "e44f9784",
      },
      {
        "cicd.pipeline.name": "Shop",
        "cicd.pipeline.run.id": "4735ba57",
        "cicd.pipeline.run.url.full": "https://buildkite.com/acme/shop/builds/1514",
        "cicd.pipeline.task.name": ":robot: Review",
        "cicd.pipeline.task.run.id": "e44f9784",
      },
    ],
    [
      "CircleCI",
      {
        CIRCLECI: "true",
        CIRCLE_WORKFLOW_ID: "a6f0",
        CIRCLE_JOB: "review",
        CIRCLE_BUILD_NUM: "7",
        CIRCLE_BUILD_URL: "https://circleci.com/gh/acme/shop/7",
      },
      {
        "cicd.pipeline.run.id": "a6f0",
        "cicd.pipeline.task.name": "review",
        "cicd.pipeline.task.run.id": "7",
        "cicd.pipeline.task.run.url.full": "https://circleci.com/gh/acme/shop/7",
      },
    ],
    [
      "Jenkins",
      {
        JENKINS_URL: "http://ci.example.com/",
        JOB_NAME: "acme/shop",
        BUILD_NUMBER: "15",
        BUILD_TAG: "jenkins-acme-shop-15",
        BUILD_URL: "http://ci.example.com/job/acme/job/shop/15/",
        STAGE_NAME: "Review",
      },
      {
        "cicd.pipeline.name": "acme/shop",
        "cicd.pipeline.run.id": "jenkins-acme-shop-15",
        "cicd.pipeline.run.url.full": "http://ci.example.com/job/acme/job/shop/15/",
        "cicd.pipeline.task.name": "Review",
      },
    ],
    ["a variable that is empty", { CIRCLECI: "true", CIRCLE_JOB: "" }, {}],
    [
      "a part of the address that is missing",
      { GITHUB_ACTIONS: "true", GITHUB_RUN_ID: "1" },
      { "cicd.pipeline.run.id": "1" },
    ],
    ["no CI", { GITHUB_WORKFLOW: "Release", JOB_NAME: "review", CI: "true" }, {}],
  ])("%s", (_, env, expected) => {
    expect(ciJob(env)).toEqual(expected);
  });
});

describe("an event's job", () => {
  test("counts if the drain has the same", () => {
    const env = { OPENHOOK_OTEL_PIPELINE: jsonOf("1") };
    expect(recordedPipeline(jsonOf("1"), env)).toEqual({ [RUN_ID]: "1" });
    expect(recordedPipeline(undefined, env)).toBeUndefined();
  });

  test.each([
    ["no JSON", "{"],
    ["no object", "null"],
    ["other attributes and types", '{"service.name":"theirs","cicd.pipeline.run.id":1}'],
  ])("does not count if the variable has %s", (_, text) => {
    expect(recordedPipeline(text, { OPENHOOK_OTEL_PIPELINE: text })).toBeUndefined();
  });
});

describe("spans of a session", () => {
  let receiver: Receiver;
  let replay: Replay;
  beforeEach(async () => {
    receiver = await startReceiver();
    replay = new Replay("claude-code", "parallel-tools", { withTranscripts: false });
  });
  afterEach(async () => {
    replay.remove();
    await receiver.close();
  });

  /** Delivers a session of which hooks recorded `job`, in a drain whose environment names `drainedIn`. @returns run ids of its spans */
  async function deliver(
    job: string,
    drainedIn: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<readonly unknown[]> {
    for (const call of replay.calls) {
      if (/^Session/.test(call.event)) replay.put({ ...call, env: { ...call.env, OPENHOOK_OTEL_PIPELINE: job } });
    }
    replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, ...settings };
    await replay.drain({ isEager: true }, { env: { OPENHOOK_OTEL_PIPELINE: drainedIn } });
    return receiver.spans.map(({ resource }) => resource[RUN_ID]);
  }

  test("name the CI job that ran the agent; metrics do not", async () => {
    expect(await deliver(jsonOf("1"), jsonOf("1"))).toEqual(["1"]);
    const names = receiver.metricPoints.flatMap(({ resource, attributes }) =>
      Object.keys({ ...resource, ...attributes }),
    );
    expect(names).toContain("service.name");
    expect(names.filter((name) => name.startsWith("cicd."))).toEqual([]);
  });

  test("do not name the job of a drain that delivers what another job left behind", async () => {
    expect(await deliver(jsonOf("1"), jsonOf("2"))).toEqual([undefined]);
  });

  test("have the value that the user set for an attribute", async () => {
    const mine = { OPENHOOK_OTEL_RESOURCE_ATTRIBUTES: `${RUN_ID}=mine` };
    expect(await deliver(jsonOf("1"), jsonOf("1"), mine)).toEqual(["mine"]);
  });

  test("name no job at capture none, even if they were queued at another level", async () => {
    await deliver(jsonOf("1"), jsonOf("1"), { OPENHOOK_OTEL_OTLP_ENDPOINT: "http://127.0.0.1:9" });
    expect(await deliver(jsonOf("1"), jsonOf("1"), { OPENHOOK_OTEL_CAPTURE: "none" })).toEqual([undefined]);
    const db = openDatabase(replay.places.storePath);
    expect(db.prepare("SELECT pipeline FROM sessions").all()).toEqual([{ pipeline: null }]);
    db.close();
  });
});

const RUN_ID = "cicd.pipeline.run.id";

const jsonOf = (runId: string): string => JSON.stringify({ [RUN_ID]: runId });
