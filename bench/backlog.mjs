// node bench/backlog.mjs [--runs N] [--sizes 500,1000,2000] [--program FILE]
// One drain of a backlog of whole sessions that all come from one agent process, as a laptop without its program collects them.
// The time must grow linearly: otherwise each session costs more, the more of them there are.
import { goal, inMiB, inRatio, inTime, inWhole, median, printReport, ratios, spread, table } from "./lib/figures.mjs";
import { makeHome } from "./lib/home.mjs";
import { Inbox } from "./lib/inbox.mjs";
import { measure } from "./lib/measure.mjs";
import { isCalled, optionsOf, sizesOf, started } from "./lib/options.mjs";

/** Maximum ratio of the processor time to that of half as many sessions; 2 is linear. */
const GOAL = 2.4;
const HOUR_MS = 3_600_000;
const SESSION_MS = 500;
export const BACKLOGS = "500,1000,2000";

/** @param sizes numbers of sessions, ascending, each twice the one before */
export async function benchBacklog({ runs, sizes, program }) {
  const rows = sizes.map((sessions) => ({ sessions, drains: [] }));
  for (let n = 0; n < runs; n++) {
    for (const row of rows) row.drains.push(await drainOf(row.sessions, program));
  }
  const of = (row, name) => row.drains.map((one) => one[name]);
  const cells = rows.map((row, index) => {
    const peaks = of(row, "peakKib");
    return [
      inWhole(row.sessions),
      inTime(median(of(row, "wallMs"))),
      inTime(median(of(row, "cpuMs"))),
      spread(of(row, "cpuMs"), inTime),
      index === 0 ? "" : inRatio(median(ratios(of(row, "cpuMs"), of(rows[index - 1], "cpuMs")))),
      inMiB(peaks[0] === undefined ? undefined : median(peaks)),
    ];
  });
  const last = ratios(of(rows.at(-1), "cpuMs"), of(rows.at(-2), "cpuMs"));
  const name = `${inWhole(rows.at(-1).sessions)} to ${inWhole(rows.at(-2).sessions)} sessions of one process`;
  return {
    title: "Drain of a backlog of one process",
    text: [
      `whole sessions of four payloads; medians of ${runs}, interleaved; every session ends in the store`,
      table(["sessions", "drain", "processor", "half of all", "to the row above", "peak"], cells),
    ].join("\n\n"),
    goals: [goal(`a backlog, ${name}: at most ${GOAL}`, inRatio(median(last)), median(last) <= GOAL)],
  };
}

// --- internal ---

/** Measures one drain of so many sessions. @throws if it did not collect every event: a drain that does nothing is fast */
async function drainOf(sessions, program) {
  const place = makeHome();
  try {
    const inbox = new Inbox(place.stateDir, place.home);
    const startMs = Date.now() - HOUR_MS - sessions * SESSION_MS;
    for (let n = 0; n < sessions; n++) {
      const session = { session_id: `${String(n).padStart(8, "0")}-0000-4000-8000-000000000000`, cwd: place.home };
      const events = [
        ["SessionStart", { source: "startup" }],
        ["UserPromptSubmit", { prompt: "x" }],
        ["Stop", {}],
        ["SessionEnd", { reason: "other" }],
      ];
      for (const [index, [name, rest]] of events.entries()) {
        inbox.put(
          "claude-code",
          { ...session, hook_event_name: name, ...rest },
          startMs + n * SESSION_MS + index * 100,
        );
      }
    }
    const measured = await measure([process.execPath, program, "drain", "--json"], { env: place.env });
    const { events } = JSON.parse(measured.stdout);
    if (events !== 4 * sessions) throw new Error(`${sessions} sessions: ${events} events collected`);
    return measured;
  } finally {
    place.remove();
  }
}

if (isCalled(import.meta.url)) {
  await started(async () => {
    const options = optionsOf({ sizes: { type: "string", default: BACKLOGS } });
    printReport(await benchBacklog({ ...options, sizes: sizesOf(options.sizes) }));
  });
}
