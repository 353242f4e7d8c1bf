// Slow: only `npm run test:all` runs it. Violations of each import rule; layout.test.ts has the rules and the files of src.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cruise, ROOT, RULES, type Violation } from "./support/cruise.ts";

/** One file per rule that breaks it and no other. `files` beside it are harmless by themselves. */
const PLANTED: Readonly<Record<string, { readonly file: string; readonly text: string; readonly beside?: Files }>> = {
  "no-cycles": {
    file: "src/send/otlp/planted-cycle.ts",
    text: `import { half } from "./planted-half.ts";\nexport const whole = (): number => half() * 2;\n`,
    beside: {
      "src/send/otlp/planted-half.ts": `import { whole } from "./planted-cycle.ts";\nexport const half = (): number => whole() / 2;\n`,
    },
  },
  "src-stands-alone": {
    file: "src/send/otlp/planted-dashboard.ts",
    text: `import { DAYS } from "../../../dashboards/src/planted.ts";\nexport const days = DAYS;\n`,
    beside: { "dashboards/src/planted.ts": "export const DAYS = 4;\n" },
  },
  "no-broken-imports": { file: "src/store/planted-broken.ts", text: `import "./nowhere.ts";\n` },
  "intake-is-bare": {
    file: "src/collect/intake/inbox-file.ts",
    text: `import * as z from "zod";\nexport const bare = z;\n`,
  },
  "hook-starts-nothing-else": {
    file: "src/collect/intake/hook-main.ts",
    text: `import { loadConfig } from "#config/load.ts";\nvoid loadConfig;\n`,
  },
  "intake-knows-only-the-model": {
    file: "src/collect/intake/planted.ts",
    text: `import { readMeta } from "#store/meta.ts";\nvoid readMeta;\n`,
  },
  "schemas-are-loaded-on-use": {
    file: "src/collect/drain/planted-schema.ts",
    text: `import { TranscriptEntry } from "#core/model/transcript.ts";\nvoid TranscriptEntry;\n`,
  },
  "model-imports-only-zod": { file: "src/core/model/planted.ts", text: `import { v4 } from "uuid";\nvoid v4;\n` },
  "agents-know-only-the-model": {
    file: "src/agents/claude-code/planted-up.ts",
    text: `import { buildSession } from "#core/session/build.ts";\nvoid buildSession;\n`,
  },
  "agents-are-islands": {
    file: "src/agents/claude-code/planted-bridge.ts",
    text: `import card from "../openhook/index.ts";\nvoid card;\n`,
  },
  "only-the-registry-knows-agents": {
    file: "src/collect/drain/planted-agent.ts",
    text: `import card from "#agents/claude-code/index.ts";\nvoid card;\n`,
  },
  "agents-are-loaded-on-demand": {
    file: "src/agents/planted.ts",
    text: `import card from "./claude-code/index.ts";\nvoid card;\n`,
  },
  "pure-rooms": { file: "src/core/session/planted-impure.ts", text: `import { stat } from "node:fs";\nvoid stat;\n` },
  "session-before-telemetry": {
    file: "src/core/session/planted-order.ts",
    text: `import { spanIdOf } from "../telemetry/ids.ts";\nvoid spanIdOf;\n`,
  },
  "stations-know-only-the-model": {
    file: "src/store/planted-sideways.ts",
    text: `import { buildSession } from "#core/session/build.ts";\nvoid buildSession;\n`,
  },
  "privacy-knows-only-the-model": {
    file: "src/core/privacy/planted-sideways.ts",
    text: `import { buildSession } from "../session/build.ts";\nvoid buildSession;\n`,
  },
  "capture-decides-alone": {
    file: "src/store/capture/planted.ts",
    text: `import { buildSession } from "#core/session/build.ts";\nvoid buildSession;\n`,
  },
  "bridge-hosts-alone": {
    file: "src/collect/bridge/planted.ts",
    text: `import { createSender } from "#send/otlp/send.lazy.ts";\nvoid createSender;\n`,
  },
  "transcripts-are-found-apart": {
    file: "src/collect/transcripts/planted.ts",
    text: `import { buildSession } from "#core/session/build.ts";\nvoid buildSession;\n`,
  },
  "sessions-only-read": {
    file: "src/store/sessions/planted.ts",
    text: `import { levelOf } from "#store/capture/level.ts";\nvoid levelOf;\n`,
  },
  "report-reads-sessions": {
    file: "src/show/report/planted.ts",
    text: `import { levelOf } from "#store/capture/level.ts";\nvoid levelOf;\n`,
  },
  "git-is-asked-apart": {
    file: "src/changes/git/planted.ts",
    text: `import { readMeta } from "#store/meta.ts";\nvoid readMeta;\n`,
  },
  "stations-serve-drains-and-imports": {
    file: "src/check/health/planted-drain.ts",
    text: `import { emptyReport } from "#collect/drain/context.ts";\nvoid emptyReport;\n`,
  },
  "otel-lives-in-otlp": {
    file: "src/collect/drain/planted-sdk.ts",
    text: `import { resourceFromAttributes } from "@opentelemetry/resources";\nvoid resourceFromAttributes;\n`,
  },
  "connections-open-in-network": {
    file: "src/check/reconcile/planted-fetch.ts",
    text: `import { request } from "node:https";\nvoid request;\n`,
  },
  "sqlite-lives-in-store": {
    file: "src/collect/drain/planted-sql.ts",
    text: `import Libsql from "libsql";\nvoid Libsql;\n`,
  },
  "page-runs-in-a-browser": {
    file: "src/show/view/page/planted.tsx",
    text: `import { readFileSync } from "node:fs";\nvoid readFileSync;\n`,
  },
  "page-is-built-apart": {
    file: "src/show/view/planted.ts",
    text: `import { safeText } from "./page/text/safe-text.ts";\nvoid safeText;\n`,
  },
  "programs-are-the-edge": { file: "src/commands/planted-edge.ts", text: `import "../cli.ts";\n` },
  "commands-start-the-pipeline": {
    file: "src/collect/drain/planted-pipeline.ts",
    text: `import { drain } from "#pipeline.ts";\nvoid drain;\n`,
  },
  "commands-are-loaded-on-demand": {
    file: "src/commands/definitions/planted.ts",
    text: `import { enable } from "../enable.ts";\nvoid enable;\n`,
  },
  "commands-are-built-in-groups": {
    file: "src/commands/definitions/planted-part.ts",
    text: `export const planted = () => import("../enable.ts");\n`,
  },
};

/** One file per room that imports from a room above it. */
const PLANTED_UP: typeof PLANTED = Object.fromEntries(
  [
    ["kit", "planted-up", "#core/rules/names.ts"],
    ["core", "planted-up", "#agents/registry.ts"],
    ["config", "planted-up", "#send/network/request.ts"],
    ["send", "planted-up", "#store/meta.ts"],
    ["store", "planted/up", "#show/report/buckets.ts"],
    ["show", "planted-up", "#changes/git/git.ts"],
    ["changes", "planted-up", "#collect/transcripts/transcript-roots.ts"],
    ["collect", "planted-up", "#setup/stack/text.ts"],
    ["setup", "planted-up", "#check/health/coverage.ts"],
    ["check", "planted-up", "#commands/doctor.ts"],
  ].map(([room, name, above]) => [
    `${room}-imports-only-rooms-below`,
    { file: `src/${room}/${name}.ts`, text: `import "${above}";\n` },
  ]),
);

const ALL_PLANTED: typeof PLANTED = { ...PLANTED, ...PLANTED_UP };

type Files = Readonly<Record<string, string>>;

/** A cycle of type imports, which the compiler would accept. */
const CYCLE_OF_TYPES: Files = {
  "src/send/otlp/planted-type.ts": `import type { Half } from "./planted-type-half.ts";\nexport type Whole = Half | 1;\n`,
  "src/send/otlp/planted-type-half.ts": `import type { Whole } from "./planted-type.ts";\nexport type Half = Whole[];\n`,
};

describe("a planted violation is reported", () => {
  let copy = "";
  let reported: readonly Violation[] = [];
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), "openhook-layout-"));
    for (const name of ["src", "package.json", "tsconfig.json"]) {
      cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"), "junction");
    for (const { file, text, beside = {} } of Object.values(ALL_PLANTED)) {
      for (const [path, content] of Object.entries({ ...beside, [file]: text })) {
        mkdirSync(dirname(join(copy, path)), { recursive: true });
        writeFileSync(join(copy, path), content);
      }
    }
    for (const [path, content] of Object.entries(CYCLE_OF_TYPES)) writeFileSync(join(copy, path), content);
    reported = cruise(copy).violations;
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true, maxRetries: 10 }));

  test.each(Object.keys(ALL_PLANTED))("%s", (name) => {
    const planted = ALL_PLANTED[name];
    expect(new Set(reported.filter(({ from }) => from === planted?.file).map(({ rule }) => rule))).toEqual(
      new Set([name]),
    );
  });

  test("a cycle of types alone", () => {
    const found = reported.filter(({ from }) => from in CYCLE_OF_TYPES).map(({ rule }) => rule);
    expect(new Set(found)).toEqual(new Set(["no-cycles"]));
  });

  test("there is a planted violation of every rule", () => {
    expect(Object.keys(ALL_PLANTED).sort()).toEqual(RULES.map(({ name }) => name).sort());
  });
});
