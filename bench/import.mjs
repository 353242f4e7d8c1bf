// node bench/import.mjs [--runs N] [--mb N] [--program FILE]
// `openhook-otel import` of every session on a machine, into a new store and then once more into the same store, compared
// with ccusage, which stores nothing, over the same files; each a separate process, from start to exit.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dailyOf, findCcusage, totalsOfCcusage } from "./lib/ccusage.mjs";
import { AGENTS, checkTotals, corpusOf } from "./lib/corpora.mjs";
import { comparison, goal, inMiB, inRatio, inWhole, median, printReport, ratios } from "./lib/figures.mjs";
import { makeHome } from "./lib/home.mjs";
import { measure } from "./lib/measure.mjs";
import { countOf, isCalled, optionsOf, started } from "./lib/options.mjs";
import { inRounds } from "./lib/rounds.mjs";
import { totalsOfStore } from "./lib/stored.mjs";

/** Wall and processor time relative to ccusage's, which stores nothing: limits that no change may exceed. */
const GOAL = 10;
const GOAL_PROCESSOR = 7.5;
const GOAL_KIB = 200 * 1024;
/** Ratio of a second import to the first. */
const GOAL_AGAIN = 0.2;
const [FIRST, AGAIN] = ["our import", "our import, once more"];

export async function benchImport({ runs, mb, program }) {
  const title = "Import";
  const { stdout: help } = spawnSync(process.execPath, [program, "import", "--help"], { encoding: "utf8" });
  if (!help.includes("openhook-otel import")) {
    const text = `NOT MEASURED: ${program} has no command named import`;
    return { title, text, goals: [goal("import", "not measured", undefined)] };
  }
  const ccusage = await findCcusage();
  const texts = [];
  const goals = [];
  for (const agent of AGENTS) {
    const corpus = corpusOf(agent, mb);
    const measured = await measureAgent(agent, corpus, { runs, program, ccusage });
    const { bytes, sessions, responses, tool_calls } = corpus.totals;
    const held = `${inWhole(bytes / 1e6)} MB, ${inWhole(sessions)} sessions, ${inWhole(responses)} model calls, ${inWhole(tool_calls)} tool calls`;
    texts.push(
      `${agent.source}: ${held}; medians of ${runs}, interleaved; totals of all are right\n\n${comparison(measured, ccusage?.version ?? FIRST)}`,
    );
    goals.push(...goalsOf(agent, measured, ccusage));
  }
  return { title, text: texts.join("\n\n"), goals };
}

// --- internal ---

async function measureAgent(agent, { home, totals }, { runs, program, ccusage }) {
  const place = makeHome({ HOME: home });
  // The agents' files belong to the corpus; everything that the program writes belongs to this run
  const env = { ...place.env, XDG_CONFIG_HOME: join(place.home, "config"), XDG_STATE_HOME: join(place.home, "other") };
  const imported = async (who) => {
    const measured = await measure([process.execPath, program, "import", agent.source], { env });
    checkTotals(`${agent.source}, ${who}`, totalsOfStore(agent, place.stateDir), totals);
    return measured;
  };
  const counted = async (who, command) => {
    const measured = await measure([...command, ...dailyOf(agent)], { env });
    checkTotals(`${agent.source}, ${who}`, totalsOfCcusage(agent, measured.stdout), totals);
    return measured;
  };
  const first = () => {
    rmSync(place.stateDir, { recursive: true, force: true });
    return imported(FIRST);
  };
  const tasks = {
    [FIRST]: first,
    [AGAIN]: async () => {
      // Runs in its first position of the round
      if (!existsSync(place.stateDir)) await first();
      return imported(AGAIN);
    },
  };
  if (ccusage !== undefined) {
    tasks[ccusage.version] = () => counted(ccusage.version, ccusage.native);
    tasks[`${ccusage.version}, npm launcher`] = () => counted("its launcher", ccusage.launcher);
  }
  try {
    return await inRounds(tasks, runs);
  } finally {
    place.remove();
  }
}

function goalsOf({ source }, measured, ccusage) {
  const of = (name, figure) => measured[name].map((one) => one[figure]);
  const peaks = of(FIRST, "peakKib");
  const peakKib = peaks[0] === undefined ? undefined : Math.max(...peaks);
  const again = median(ratios(of(AGAIN, "wallMs"), of(FIRST, "wallMs")));
  const goals = [
    goal(
      `${source}: memory of an import, at most ${inMiB(GOAL_KIB)}`,
      inMiB(peakKib),
      peakKib === undefined ? undefined : peakKib <= GOAL_KIB,
    ),
    goal(`${source}: a second import to the first, below ${GOAL_AGAIN}`, inRatio(again), again < GOAL_AGAIN),
  ];
  if (ccusage === undefined)
    return [goal(`${source}: to ccusage, at most ${GOAL}`, "not measured", undefined), ...goals];
  const wall = median(ratios(of(FIRST, "wallMs"), of(ccusage.version, "wallMs")));
  const processor = median(ratios(of(FIRST, "cpuMs"), of(ccusage.version, "cpuMs")));
  return [
    goal(`${source}: wall time to ccusage's, at most ${GOAL}`, inRatio(wall), wall <= GOAL),
    goal(
      `${source}: processor time to ccusage's, at most ${GOAL_PROCESSOR}`,
      inRatio(processor),
      processor <= GOAL_PROCESSOR,
    ),
    ...goals,
  ];
}

if (isCalled(import.meta.url)) {
  await started(async () => {
    const options = optionsOf({ runs: { type: "string", default: "5" }, mb: { type: "string", default: "300" } });
    printReport(await benchImport({ ...options, mb: countOf("--mb", options.mb) }));
  });
}
