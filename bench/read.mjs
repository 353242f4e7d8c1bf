// node bench/read.mjs [--runs N] [--mb N]
// Reading transcripts without storing anything: our readers the way drains and imports use them, JSON.parse of every line,
// JSON.parse of lines with token usage, and ccusage; each a separate process, from start to exit, over the same files.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundled } from "./lib/bundle.mjs";
import { dailyOf, findCcusage, totalsOfCcusage } from "./lib/ccusage.mjs";
import { AGENTS, checkTotals, corpusOf } from "./lib/corpora.mjs";
import { comparison, goal, inMiB, inWhole, median, printReport } from "./lib/figures.mjs";
import { makeHome } from "./lib/home.mjs";
import { measure } from "./lib/measure.mjs";
import { countOf, isCalled, optionsOf, started } from "./lib/options.mjs";
import { inRounds } from "./lib/rounds.mjs";

const GOAL_KIB = 150 * 1024;

export async function benchRead({ runs, mb }) {
  const ccusage = await findCcusage();
  const { home: scratch, env, remove } = makeHome();
  try {
    const reader = await bundled("reader", scratch);
    const texts = [];
    const goals = [];
    for (const agent of AGENTS) {
      const corpus = corpusOf(agent, mb);
      const list = join(scratch, `${agent.source}.txt`);
      writeFileSync(list, corpus.paths.join("\n"));
      const kinds = {
        ours: "our reader, as drains read",
        rows: "our reader, as imports read",
        parse: "JSON.parse of every line",
        usage: "JSON.parse of lines with usage",
      };
      const things = Object.fromEntries(
        Object.entries(kinds).map(([kind, name]) => [
          name,
          async () => {
            const measured = await measure([process.execPath, reader, kind, agent.source, list], { env });
            checkTotals(`${agent.source}, ${name}`, JSON.parse(measured.stdout), corpus.totals);
            return measured;
          },
        ]),
      );
      if (ccusage !== undefined) {
        things[ccusage.version] = async () => {
          const home = { ...env, HOME: corpus.home };
          const measured = await measure([...ccusage.native, ...dailyOf(agent)], { env: home });
          checkTotals(ccusage.version, totalsOfCcusage(agent, measured.stdout), corpus.totals);
          return measured;
        };
      }
      const measured = await inRounds(things, runs);
      const { bytes, lines } = corpus.totals;
      texts.push(
        `${agent.source}: ${inWhole(bytes / 1e6)} MB, ${inWhole(lines)} lines, ${inWhole(corpus.paths.length)} files; medians of ${runs}, interleaved; totals of all are right\n\n${comparison(measured, kinds.parse)}`,
      );
      const peaks = [kinds.ours, kinds.rows].map((name) => measured[name]?.map((one) => one.peakKib ?? Number.NaN));
      const peakKib = Math.max(...peaks.flatMap((of) => (of === undefined ? [] : [median(of)])));
      const isKnown = Number.isFinite(peakKib);
      goals.push(
        goal(
          `${agent.source}: memory for reading, at most ${inMiB(GOAL_KIB)}`,
          inMiB(isKnown ? peakKib : undefined),
          isKnown ? peakKib <= GOAL_KIB : undefined,
        ),
      );
    }
    return { title: "Reading transcripts", text: texts.join("\n\n"), goals };
  } finally {
    remove();
  }
}

if (isCalled(import.meta.url)) {
  await started(async () => {
    const options = optionsOf({ runs: { type: "string", default: "5" }, mb: { type: "string", default: "300" } });
    printReport(await benchRead({ ...options, mb: countOf("--mb", options.mb) }));
  });
}
