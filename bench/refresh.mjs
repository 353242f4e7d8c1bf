// node bench/refresh.mjs [--runs N] [--sizes MB[,MB…]] [--program FILE]
// The everyday answer: `report` and `sessions` on a machine whose sessions are in the store, with the search for new ones and
// nothing new, compared with ccusage, which reads every file again; each a separate process, from start to exit.
import { join } from "node:path";
import { dailyOf, findCcusage, totalsOfCcusage } from "./lib/ccusage.mjs";
import { AGENTS, checkTotals, corpusOf } from "./lib/corpora.mjs";
import { comparison, goal, inRatio, inTime, inWhole, median, printReport, ratios } from "./lib/figures.mjs";
import { makeHome } from "./lib/home.mjs";
import { measure } from "./lib/measure.mjs";
import { isCalled, optionsOf, sizesOf, started } from "./lib/options.mjs";
import { inRounds } from "./lib/rounds.mjs";
import { totalsOfStore } from "./lib/stored.mjs";

export const HOMES = "1000,3000";
const [REPORT, SESSIONS, STORED] = ["report", "sessions", "report --no-refresh"];

/** @param sizes of the homes, in MB, smallest first: the first has a goal in seconds, each a goal to ccusage */
export async function benchRefresh({ runs, program, sizes }) {
  const ccusage = await findCcusage();
  const [agent] = AGENTS;
  const texts = [];
  const goals = [];
  for (const mb of sizes) {
    const corpus = corpusOf(agent, mb);
    const measured = await measureHome(agent, corpus, { runs, program, ccusage });
    const { bytes, sessions } = corpus.totals;
    texts.push(
      `${agent.source}: ${inWhole(bytes / 1e6)} MB, ${inWhole(sessions)} sessions, nothing new; medians of ${runs}, interleaved; totals of all are right\n\n${comparison(measured, ccusage?.version ?? REPORT)}`,
    );
    goals.push(...goalsOf(mb, measured, ccusage));
  }
  return { title: "Refresh", text: texts.join("\n\n"), goals };
}

// --- internal ---

/** Wall time in a home of 1 GB. */
const GOAL_MS = 250;
/** Ratio of wall time to ccusage's, below and from 3 GB on. */
const goalRatioOf = (mb) => (mb < 3_000 ? 0.25 : 0.2);
const FIRST_GOAL_MB = 1_000;

async function measureHome(agent, { home, totals }, { runs, program, ccusage }) {
  const place = makeHome({ HOME: home });
  const env = { ...place.env, XDG_CONFIG_HOME: join(place.home, "config"), XDG_STATE_HOME: join(place.home, "other") };
  const ours = (...words) => measure([process.execPath, program, ...words], { env });
  const reported = async (who, ...more) => {
    const measured = await ours("report", "agent", "--since", "2026-01-01", "--json", ...more);
    checkTotals(who, totalsOfReport(measured.stdout), totals);
    return measured;
  };
  const tasks = {
    [REPORT]: () => reported(REPORT),
    [SESSIONS]: () => ours("sessions"),
    [STORED]: () => reported(STORED, "--no-refresh"),
  };
  if (ccusage !== undefined) {
    tasks[ccusage.version] = async () => {
      const measured = await measure([...ccusage.native, ...dailyOf(agent)], { env });
      checkTotals(ccusage.version, totalsOfCcusage(agent, measured.stdout), totals);
      return measured;
    };
  }
  try {
    await ours("import", agent.source);
    checkTotals("import", totalsOfStore(agent, place.stateDir), totals);
    return await inRounds(tasks, runs);
  } finally {
    place.remove();
  }
}

/** A report's total under the names of the corpus's. Its input includes cached tokens. */
function totalsOfReport(stdout) {
  const { sessions, model_calls, input, output, cache_read, cache_write, tool_calls, tool_errors } =
    JSON.parse(stdout).total;
  return {
    sessions,
    responses: model_calls,
    input: input - cache_read - cache_write,
    output,
    cache_read,
    cache_creation: cache_write,
    tool_calls,
    tool_errors,
  };
}

function goalsOf(mb, measured, ccusage) {
  const wallOf = (name) => measured[name].map(({ wallMs }) => wallMs);
  return [REPORT, SESSIONS].flatMap((name) => {
    const what = `${name}, ${inWhole(mb)} MB, nothing new`;
    const ms = median(wallOf(name));
    const inSeconds = mb > FIRST_GOAL_MB ? [] : [goal(`${what}: at most ${GOAL_MS} ms`, inTime(ms), ms <= GOAL_MS)];
    const most = goalRatioOf(mb);
    const text = `${what}: wall time to ccusage's, at most ${most}`;
    if (ccusage === undefined) return [...inSeconds, goal(text, "not measured", undefined)];
    const ratio = median(ratios(wallOf(name), wallOf(ccusage.version)));
    return [...inSeconds, goal(text, inRatio(ratio), ratio <= most)];
  });
}

if (isCalled(import.meta.url)) {
  await started(async () => {
    const options = optionsOf({
      runs: { type: "string", default: "5" },
      sizes: { type: "string", default: HOMES },
    });
    printReport(await benchRefresh({ ...options, sizes: sizesOf(options.sizes, 1) }));
  });
}
