import { readdirSync } from "node:fs";

/**
 * True for `npm run test:all`, which CI runs; false for the quick selection of `npm test`. Both run every kind of test;
 * `npm test` walks fewer recordings, tries fewer random inputs and leaves out `*.slow.test.ts`.
 */
export const IS_WHOLE = process.env["OPENHOOK_TEST"] === "all";

/**
 * True for `scripts/test-node.mjs`, which runs `npm test` on another version of Node without `SAME_IN_EVERY_NODE`.
 */
export const IS_OTHER_NODE = process.env["OPENHOOK_TEST"] === "node";

/** Tests of code that uses nothing of Node that differs between versions: no file, process, thread, network or native part. */
export const SAME_IN_EVERY_NODE: readonly string[] = [
  "test/{session,model,telemetry,report,convert,dashboards,collector-config,scripts,live}/**",
  "test/privacy/{linear,recall,rules}.test.ts",
  // Of single agents but the plugin; test/agents/*.test.ts read the transcripts of all
  ...readdirSync("test/agents", { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !["shared", "opencode"].includes(entry.name))
    .map(({ name }) => `test/agents/${name}/**`),
  "test/{layout,docs,tracked-files}.test.ts",
];

/** They take the longest, so they start first: otherwise one of them would run alone at the end. */
export const LONG_FILES: readonly string[] = [
  "agents/drains-between.test.ts",
  "agents/recordings.test.ts",
  "drain/root-totals.test.ts",
  "agents/counted-ids.slow.test.ts",
  "import/same.test.ts",
  "report/row-sums.slow.test.ts",
  "drain/parts.slow.test.ts",
  "changes/facts.slow.test.ts",
  "e2e/installed-copy.slow.test.ts",
  "agents/contract.test.ts",
  "layout.test.ts",
];

/** Tests in a browser, which are left out if the environment says that there is none: `CHROMIUM=none`. */
export const BROWSER_FILES: readonly string[] =
  process.env["CHROMIUM"] === "none"
    ? ["export", "live", "opened", "page", "prompts"].map((name) => `test/view/${name}.slow.test.ts`)
    : [];

/**
 * Files that run in a process of their own, because they replace modules or globals, need `unsynced-stores.ts` not to, or start many
 * processes: starting one takes ten times as long from a process that has run hundreds of test files. The others share three processes. In `npm run
 * test:all`, more files start many.
 */
export const ISOLATED_FILES: readonly string[] = [
  ...(IS_WHOLE
    ? [
        "test/*.test.ts",
        "test/{bench,bridge,changes,e2e,faults,intake,repository,scripts}/**/*.test.ts",
        "test/{commands,view}/*.slow.test.ts",
        "test/commands/{enable,outcomes,sessions,show,start,status,wrap}.test.ts",
        "test/drain/{agent-process,clock-jump,large-turn,parts,revisions,shared-home,suspend}.slow.test.ts",
      ]
    : []),
  "test/{e2e/**/*,intake/hook}.test.ts",
  "test/agents/opencode/plugin.test.ts",
  "test/commands/doctor.test.ts",
  "test/config/home.test.ts",
  "test/drain/contained.test.ts",
  "test/native/{forward,pending}.test.ts",
  "test/registration/sudo.test.ts",
  "test/store/{database,migration}.test.ts",
];

/** Recordings that `npm test` walks: each shape in which agents differ, at least once. */
const CHOSEN: Readonly<Record<string, readonly string[]>> = {
  // Subagents that outlive a turn, a second process, copied history, calls without ids
  "claude-code": ["background-subagent", "killed-then-resumed", "fork", "older-version-2.0.77"],
  // Parallel calls, a subagent that copies its parent, calls inside calls
  codex: ["parallel-tools", "subagent-fork", "code-mode"],
  copilot: ["subagent", "killed-then-resumed"],
  "gemini-cli": ["parallel-tools", "killed-then-resumed"],
  cline: ["tool-errors", "subagent"],
  opencode: ["subagent", "fork"],
  cursor: ["subagent", "failure"],
  kiro: ["no-session-id"],
};

/**
 * The recordings to walk: all of them, or those chosen for `npm test` (the first one of an agent that `CHOSEN` lacks).
 *
 * @throws Error if a chosen recording does not exist, or none is left
 */
export function chosenRecordings<T extends { readonly source: string; readonly name: string }>(
  all: readonly T[],
): readonly T[] {
  if (IS_WHOLE) return all;
  const firsts = new Map([...all].reverse().map((one) => [one.source, one.name]));
  const chosen = all.filter(({ source, name }) => CHOSEN[source]?.includes(name) ?? firsts.get(source) === name);
  if (chosen.length === 0) throw new Error("no recording is left to walk");
  return chosen;
}

/** In `npm test`, the first of `chosenRecordings` per agent: for walks that drain each recording many times. */
export function firstRecordings<T extends { readonly source: string; readonly name: string }>(
  all: readonly T[],
): readonly T[] {
  if (IS_WHOLE) return all;
  return [...new Map([...chosenRecordings(all)].reverse().map((one) => [one.source, one])).values()];
}

/** In `npm test`, the first `count` of a list of cases that differ little. */
export const firstOf = <T>(list: readonly T[], count: number): readonly T[] => (IS_WHOLE ? list : list.slice(0, count));

/** How many random inputs a property test tries: all, or an eighth (at least 10) in `npm test`. */
export const runs = (whole: number): number => (IS_WHOLE ? whole : Math.min(whole, Math.max(10, Math.ceil(whole / 8))));
