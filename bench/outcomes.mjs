// node bench/outcomes.mjs [--runs N] [--commits N] [--files N] [--program FILE]
// `outcomes` in a large repository in which agents made commits, and the drain that starts the daily run: it must not take longer
// than one that starts none. What became of each commit is compared with what the repository was made to contain.
import { createRequire } from "node:module";
import { join } from "node:path";
import { startBackend } from "./lib/backend.mjs";
import {
  comparison,
  goal,
  inMiB,
  inRatio,
  inTime,
  inWhole,
  median,
  printReport,
  ratios,
  spread,
  table,
} from "./lib/figures.mjs";
import { makeLargeRepository } from "./lib/large-repository.mjs";
import { LongSession, SPANS_PER_TURN } from "./lib/long-session.mjs";
import { measure } from "./lib/measure.mjs";
import { countOf, isCalled, optionsOf, ROOT, started } from "./lib/options.mjs";
import { inRounds } from "./lib/rounds.mjs";

/** As many as one run of `outcomes` checks. */
const AGENT_COMMITS = 500;
const COMMITS_PER_SESSION = 10;
const MAX_TRIES = 5;
const GOAL_MS = 10_000;
const GOAL_KIB = 150 * 1024;
/** What a drain may take with the daily run, to one without it: it differs as much from itself. */
const GOAL_DRAIN = 1.1;
const [FIRST, AGAIN, DAILY] = ["outcomes, first run", "outcomes, once more", "first run, as drains start it"];
/** Node's options for what a drain starts in the background, see src/collect/intake/hook.ts. */
const LEAN = ["--max-semi-space-size=2", "--optimize-for-size", "--initial-heap-size=48"];
const [OFF, DUE] = ["drain of a turn, no daily run", "drain of a turn, starts the daily run"];
export const LARGE = { commits: 50_000, files: 20_000 };

/** @param size of the repository: commits and files */
export async function benchOutcomes({ runs, program, size }) {
  const backend = await startBackend();
  const session = new LongSession(1, program);
  try {
    const folder = session.cwd;
    console.log(`making a repository of ${inWhole(size.commits)} commits and ${inWhole(size.files)} files`);
    const commits = await makeLargeRepository(folder, { ...size, agentCommits: AGENT_COMMITS });
    report(session, commits, folder);
    await session.drain(backend.url, { OPENHOOK_OTEL_CHANGES_OUTCOMES: "false" });
    const known = () => outcomesOf(session.stateDir);
    const run = async (...nodeOptions) => {
      const command = [process.execPath, ...nodeOptions, program, "outcomes", "--json"];
      const measured = await measure(command, { env: session.env });
      check(JSON.parse(measured.stdout), commits);
      return measured;
    };
    const asked = await inRounds(
      {
        [FIRST]: () => {
          forget(session.stateDir);
          return run();
        },
        [AGAIN]: () => run(),
        [DAILY]: () => {
          forget(session.stateDir);
          return run(...LEAN);
        },
      },
      runs,
    );
    const drainOf = async (isOn, tries = MAX_TRIES) => {
      // It waits for a drain that stores answers
      await session.drainByHand(backend.url);
      forgetDay(session.stateDir);
      session.addTurn();
      const before = await backend.counts();
      const checkedMs = known();
      const settings = { OPENHOOK_OTEL_CHANGES_OUTCOMES: String(isOn) };
      const measured = await session.drain(backend.url, settings);
      const spans = (await backend.counts()).spans - before.spans;
      // It left the work to a drain that was still running
      if (spans === 0 && tries > 1) return drainOf(isOn, tries - 1);
      if (spans !== SPANS_PER_TURN) throw new Error(`${spans} spans arrived. The drain log:\n${session.log()}`);
      if (isOn) await until(() => known() > checkedMs, "the daily run stored nothing");
      return measured;
    };
    const drained = await inRounds({ [OFF]: () => drainOf(false), [DUE]: () => drainOf(true) }, runs, 2);
    return reportOf({ asked, drained, runs, size });
  } finally {
    backend.stop();
    session.remove();
  }
}

// --- internal ---

/** Hook payloads of sessions that wrote files and committed them. */
function report(session, commits, folder) {
  for (const [at, { id, path, timeMs }] of commits.entries()) {
    const shared = { session_id: `bench-${Math.floor(at / COMMITS_PER_SESSION)}`, cwd: folder };
    const put = (name, more, ms) => session.inbox.put("claude-code", { ...shared, hook_event_name: name, ...more }, ms);
    const call = (tool, input, answer, ms) => {
      const named = { tool_name: tool, tool_input: input, tool_use_id: `toolu_${at}_${tool}` };
      put("PreToolUse", named, ms);
      put("PostToolUse", { ...named, tool_response: answer }, ms + 500);
    };
    put("UserPromptSubmit", { prompt: "write and commit it" }, timeMs - 3_000);
    const written = { type: "create", filePath: join(folder, path), structuredPatch: [] };
    call("Write", { file_path: join(folder, path), content: "export const value = 1;\n" }, written, timeMs - 2_000);
    const stdout = `[main ${id.slice(0, 10)}] Change\n 1 file changed, 30 insertions(+)\n`;
    call("Bash", { command: 'git commit -m "Change"' }, { stdout, stderr: "", interrupted: false }, timeMs - 200);
    put("Stop", { stop_hook_active: false }, timeMs + 1_000);
  }
}

/** @throws if a fate or a number of lines is wrong: a wrong answer's speed means nothing */
function check({ commits: found, problems }, commits) {
  if (problems.length > 0) throw new Error(`outcomes: ${problems.join("; ")}`);
  const answers = new Map(found.map((one) => [one.commit, one]));
  for (const { id, fate, lines } of commits) {
    const answer = answers.get(id);
    const written = answer?.lines?.written ?? lines;
    if (answer?.fate !== fate || written !== lines) {
      throw new Error(
        `${JSON.stringify(answer)} ${id} is ${answer?.fate} with ${written} lines, it should be ${fate} with ${lines}`,
      );
    }
  }
}

function inStore(stateDir, use) {
  const Database = createRequire(join(ROOT, "package.json"))("libsql");
  const db = new Database(join(stateDir, "store.db"));
  try {
    db.exec("PRAGMA busy_timeout = 10000");
    return use(db);
  } finally {
    db.close();
  }
}

/** When a commit was checked last. */
const outcomesOf = (stateDir) =>
  inStore(stateDir, (db) => db.prepare("SELECT max(checked_ms) AS ms FROM commit_outcomes").get().ms ?? 0);
const forget = (stateDir) => inStore(stateDir, (db) => db.exec("DELETE FROM commit_outcomes"));
/** The next drain starts the daily run. */
const forgetDay = (stateDir) => inStore(stateDir, (db) => db.exec("DELETE FROM meta WHERE key = 'outcomes.last_ms'"));

async function until(holds, problem) {
  for (const endMs = Date.now() + 600_000; !holds(); ) {
    if (Date.now() > endMs) throw new Error(problem);
    await new Promise((done) => setTimeout(done, 250));
  }
}

function reportOf({ asked, drained, runs, size }) {
  const of = (name, figure) => asked[name].map((one) => one[figure]);
  const rows = [FIRST, AGAIN, DAILY].map((name) => [
    name,
    inTime(median(of(name, "wallMs"))),
    spread(of(name, "wallMs"), inTime),
    inTime(median(of(name, "cpuMs"))),
    inMiB(of(name, "peakKib")[0] === undefined ? undefined : median(of(name, "peakKib"))),
  ]);
  const [wall, peak] = [median(of(FIRST, "wallMs")), median(of(DAILY, "peakKib"))];
  const ratio = median(
    ratios(
      drained[DUE].map(({ wallMs }) => wallMs),
      drained[OFF].map(({ wallMs }) => wallMs),
    ),
  );
  const sizes = `${inWhole(size.commits)} commits, ${inWhole(size.files)} files`;
  const isMeasured = !Number.isNaN(peak) && peak !== undefined;
  return {
    title: "What became of commits",
    text: [
      `${sizes}; ${AGENT_COMMITS} commits of agents; medians of ${runs}, interleaved; every fate is right; peak: git or we`,
      table(["", "wall", "half of all", "processor", "peak"], rows),
      comparison(drained, OFF),
    ].join("\n\n"),
    goals: [
      goal(`outcomes, ${sizes}: at most ${GOAL_MS / 1_000} s`, inTime(wall), wall <= GOAL_MS),
      goal(
        "the memory of the daily run, at most 150 MiB",
        inMiB(isMeasured ? peak : undefined),
        isMeasured ? peak <= GOAL_KIB : undefined,
      ),
      goal(`a drain that starts it, to one that does not: at most ${GOAL_DRAIN}`, inRatio(ratio), ratio <= GOAL_DRAIN),
    ],
  };
}

if (isCalled(import.meta.url)) {
  await started(async () => {
    const options = optionsOf({
      runs: { type: "string", default: "5" },
      commits: { type: "string", default: String(LARGE.commits) },
      files: { type: "string", default: String(LARGE.files) },
    });
    const size = { commits: countOf("--commits", options.commits), files: countOf("--files", options.files) };
    printReport(await benchOutcomes({ ...options, size }));
  });
}
