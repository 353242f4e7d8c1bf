/**
 * True for `npm run test:all`, which CI runs; false for the quick selection of `npm test`. Both run every kind of test;
 * `npm test` walks fewer recordings, tries fewer random inputs and skips the files of `SLOW_FILES`.
 */
export const IS_WHOLE = process.env["OPENHOOK_TEST"] === "all";

/** Files that only `npm run test:all` runs, with the tests of `npm test` that cover the same code. */
export const SLOW_FILES: Readonly<Record<string, string>> = {
  "test/agents/claude-code/equal-payloads.test.ts":
    "equal payloads reported twice, at every pace of drains; drain/replays.test.ts has two",
  "test/agents/cline/growing.test.ts": "a task read while it grows; drain/late-transcript.test.ts reads in parts",
  "test/agents/codex/enough.test.ts": "cut lines of every rollout; import/same.test.ts imports one",
  "test/agents/counted-ids.test.ts": "ids that a provider counts; agents/equal-call-ids.test.ts has two subagents",
  "test/agents/copilot/sums.test.ts":
    "sums of killed and resumed runs, at every pace of drains; copilot/transcript.test.ts has the rules",
  "test/agents/partial-usage.test.ts":
    "each token figure missing in a recording of each agent; model/merge.test.ts and telemetry/cost.test.ts have the rules",
  "test/agents/changed-files.test.ts":
    "session files with other line ends, marks and repeated lines; shared/transcript/jsonl.test.ts has the lines",
  "test/agents/qwen-code/fork.test.ts":
    "forks with marked copies, read in any order; qwen-code/transcript.test.ts has the ids of copies",
  "test/agents/replies.test.ts": "the reply of every registered hook; intake/hook.test.ts has those of the cards",
  "test/agents/cli-wrapper/wrapper.test.ts": "the wrapper in every shell; commands/wrap.test.ts runs it once",
  "test/agents/codex/packed.test.ts": "compressed rollouts of all kinds; shared/unpacked.test.ts reads the format",
  "test/changes/counts.test.ts":
    "commits and changes in the counters; changes/drain.test.ts counts commits, store/counters.test.ts has the rules",
  "test/changes/facts.test.ts": "who made the commits of every situation; changes/drain.test.ts has the rules",
  "test/changes/follow.test.ts":
    "each situation of a commit in a repository; commands/outcomes.test.ts follows merged and rewritten ones",
  "test/changes/git.test.ts": "git in odd repositories; commands/outcomes.test.ts follows commits",
  "test/changes/tickets.test.ts":
    "tickets in trailers, from the commit to the report; changes/trailers.test.ts has the rules",
  "test/bench/measure.test.ts":
    "how benchmarks measure processes; bench/backend.test.ts and bench/corpus.test.ts have their parts",
  "test/agents/copilot/subagent-sessions.test.ts":
    "subagents of every recording; agents/recordings.test.ts has one, copilot/transcript.test.ts the rules",
  "test/intake/launchd.test.ts":
    "hooks with the environment of macOS' services, in seven shells; intake/hook.test.ts has the hook",
  "test/intake/hook-soon.test.ts": "one drain for many events, which takes seconds; intake/hook.test.ts starts drains",
  "test/view/export.test.ts": "an exported page in Chromium; telemetry/content-levels.test.ts has the capture levels",
  "test/report/row-sums.test.ts":
    "rows of every recording and of random sessions add up; view/waterfall.test.ts has the rules",
  "test/report/blocks.test.ts":
    "sums by windows of settled and imported sessions; report/windows.test.ts has the rules, commands/report.test.ts the tables",
  "test/commands/pr-comment.test.ts": "the comment of a pull request; changes/report.test.ts has the figures",
  "test/commands/show-change.test.ts": "each way to name a change; changes/report.test.ts has the figures",
  "test/commands/stack.test.ts": "the compose files, parsed and compared; collector-config/*.test.ts check their parts",
  "test/e2e/pager.test.ts": "a pager on a pseudo terminal, for each command that has one; pager.test.ts has the choice",
  "test/e2e/commands.test.ts":
    "odd machines and terminals, with the built program; commands/*.test.ts run each in process",
  "test/drain/agent-process.test.ts": "sessions that end with real processes; session/endings.test.ts has the rules",
  "test/drain/coverage.test.ts": "what covers an agent; telemetry/self-delivery.test.ts delivers the metrics",
  "test/drain/rate-limits.test.ts":
    "rate limits as a backend receives them; codex/rate-limits.test.ts and statusline/*.test.ts read them",
  "test/drain/revisions.test.ts": "an answer that changes at any time; drain/late-transcript.test.ts reads in parts",
  "test/drain/late-lines.test.ts":
    "lines of every recording after the session's end; drain/late-transcript.test.ts reads in parts",
  "test/drain/large-turn.test.ts":
    "a turn that fills a small heap, with the built program; store/settle.test.ts has the rules",
  "test/convert/kit.test.ts":
    "every vector of the conformance kit; convert/*.test.ts and agents/openhook have the rules",
  "test/drain/parts.test.ts": "a large turn settled in parts, in any way; session/finished-part.test.ts has the rules",
  "test/drain/clock-jump.test.ts": "the built program under other clocks; session/endings.test.ts has the rules",
  "test/drain/put-back.test.ts": "older stores that are put back at several times; drain/instance.test.ts has copies",
  "test/drain/shared-home.test.ts": "several machines on one home; drain/instance.test.ts has the rules",
  "test/bridge/failures.test.ts": "commands that fail, levels, changed files; bridge/deliver.test.ts delivers once",
  "test/privacy/outcomes.test.ts":
    "commits and what became of them at every capture level; changes/drain.test.ts has the levels none and forbidden",
  "test/privacy/preview-summary.test.ts":
    "the summary of a preview; privacy/preview.test.ts compares it with a delivery",
  "test/e2e/openhook.test.ts":
    "OpenHook senders and drains that hooks start, with the built program; e2e/full-way.test.ts delivers once",
  "test/e2e/bridge.test.ts": "commands of every kind, with installed hooks; bridge/deliver.test.ts has the rules",
  "test/faults/bridge.test.ts": "a drain killed at every step of the bridge; bridge/deliver.test.ts delivers once",
  "test/e2e/read-program.test.ts":
    "help and errors of dist/read.cjs and dist/cli.cjs; commands/*.test.ts run the commands in process",
  "test/e2e/suggestions.test.ts": "each suggested command, typed as printed; commands/*.test.ts run the commands",
  "test/e2e/repository-variables.test.ts":
    "variables from a repository, with the built program; privacy/repository-variables.test.ts has the rules",
  "test/e2e/delivery.test.ts": "backends that fail, with the built program; e2e/full-way.test.ts delivers once",
  "test/e2e/system-authorities.test.ts":
    "the operating system's authorities, with the built program; otlp/tls.test.ts has the others",
  "test/e2e/installed-copy.test.ts":
    "the program as npx and npm install it, with the built program; registration/installed-copy.test.ts has the rules",
  "test/e2e/uninstall.test.ts": "everything removed, with the built program; commands/enable.test.ts has disable",
  "test/e2e/managed.test.ts":
    "an administrator's machine with two users, with the built program; agents/managed.test.ts has the files",
  "test/e2e/completion.test.ts":
    "bash, zsh and fish in a terminal, with the built program; commands/completion.test.ts has what is completed",
  "test/e2e/containers.test.ts":
    "CI jobs, no network, and pid namespaces that end, with the built program; e2e/run.test.ts has `run`",
  "test/e2e/silent-server.test.ts": "servers that never answer; otlp/send.test.ts has the outcomes",
  "test/e2e/proxy-exact.test.ts": "exactness through a proxy, with each protocol; otlp/proxy.test.ts has the outcomes",
  "test/e2e/grpc.test.ts": "OTLP over gRPC with the built program; otlp/grpc.test.ts has the outcomes",
  "test/e2e/package.test.ts":
    "the package as package managers install it; registration/installed-copy.test.ts has the native part, docs.test.ts the links",
  "test/e2e/umask.test.ts": "a umask without the owner's rights, with the built program as an ordinary user",
  "test/e2e/demo.test.ts": "the demo, also run by `npm run demo`",
  "test/e2e/hostile.test.ts": "hostile homes and inputs, with the built program",
  "test/faults/backend.test.ts": "a backend that hangs or refuses; otlp/deliver.test.ts has the rules",
  "test/faults/drain.test.ts":
    "a drain killed at its steps, with the built program; store/*.test.ts have the transactions",
  "test/faults/input-paths.test.ts": "transcript paths in payloads that lead elsewhere; agents/links.test.ts has links",
  "test/faults/transcripts.test.ts": "a drain killed within a transcript; drain/late-transcript.test.ts reads in parts",
  "test/import/fuller-copies.test.ts":
    "copies that have more than the original, in every order; import/copies.test.ts and model/merge.test.ts have the rules",
  "test/import/export.test.ts":
    "imports that are exported; otlp/deliver.test.ts and import/same.test.ts have the parts",
  "test/session/many-calls.test.ts": "130,000 calls, 500 nested subagents; session/build.test.ts has all shapes",
  "test/view/live.test.ts": "the page in Chromium while sessions run; view/server.test.ts has the data",
  "test/faults/damage.test.ts": "a store with damaged pages; store/database.test.ts damages it once",
  "test/faults/input.test.ts": "floods and torn input; intake/inbox.test.ts has the rules",
  "test/faults/input-terminal.test.ts": "input from a terminal",
  "test/faults/no-inode.test.ts":
    "a disk without inodes, with the built program; store/spare-files.test.ts has the files",
  "test/faults/load-killed.test.ts":
    "a drain killed among many sessions, with the built program; drain/replays.test.ts has two sessions",
  "test/faults/load.test.ts": "many sessions at once; drain/replays.test.ts has two",
  "test/import/damaged.test.ts": "imports beside damaged stores; store/database.test.ts damages one",
  "test/import/changes.test.ts":
    "a commit in a call of each recording, imported and drained; changes/drain.test.ts has the rules",
  "test/import/threads.test.ts": "imports with reader threads; import/same.test.ts reads in one",
  "test/privacy/canary.test.ts": "planted secrets through every agent; e2e/privacy.test.ts has one",
  "test/telemetry/self-delivery.test.ts":
    "own telemetry as a backend receives it; telemetry/self.test.ts has the rules",
  "test/view/prompts.test.ts":
    "first prompt lines in the page's data; transcripts/prompt-lines.test.ts reads them from the agents' files",
  "test/view/page.test.ts": "the page in Chromium; view/server.test.ts has the data",
};

/** Files that replace modules or globals. Each runs in a separate process; the others of `npm test` share three. */
export const ISOLATED_FILES: readonly string[] = [
  "test/agents/opencode/plugin.test.ts",
  "test/commands/doctor.test.ts",
  "test/config/home.test.ts",
  "test/drain/contained.test.ts",
  "test/registration/sudo.test.ts",
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
