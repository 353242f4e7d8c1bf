// node bench/drain.mjs [--runs N] [--sizes 10,1000,100000] [--program FILE]
// The cost of one new turn in a session with 10, 1,000 and 100,000 earlier events: the program's drain, started the way a hook
// starts it, with a backend that accepts everything. Runs are interleaved, so that other load on the machine affects all sizes.
// Each is followed by an empty drain, because most of a drain is the start of Node.
import { startBackend } from "./lib/backend.mjs";
import { goal, inMiB, inRatio, inTime, inWhole, median, printReport, ratios, spread, table } from "./lib/figures.mjs";
import { EVENTS_PER_TURN, LINES_PER_TURN, LongSession, SPANS_PER_TURN } from "./lib/long-session.mjs";
import { isCalled, optionsOf, sizesOf, started } from "./lib/options.mjs";

/** Maximum ratio, the longest session to the shortest. */
const GOAL = 1.5;
const WARM_UP_RUNS = 2;
/** Sessions up to this length are made again each round, because a measured turn would lengthen them too much. */
const SHORT_EVENTS = 200;
const SLOW_EVENTS = 20_000;
export const SIZES = "10,1000,100000";

/** @param sizes numbers of earlier events, ascending */
export async function benchDrain({ runs, sizes, program }) {
  const backend = await startBackend();
  const sessions = [];
  const sessionOf = async (index, events) => {
    if (sessions[index] !== undefined && events > SHORT_EVENTS) return sessions[index];
    sessions[index]?.remove();
    sessions[index] = await drainedSession(events, program, backend);
    return sessions[index];
  };
  try {
    const rows = sizes.map((events) => ({ events, turn: [], empty: [] }));
    for (let n = 0; n < WARM_UP_RUNS + runs; n++) {
      for (const [index, events] of sizes.entries()) {
        const session = await sessionOf(index, events);
        session.addTurn();
        const turn = await sending(session, SPANS_PER_TURN, `round ${n}, a turn after ${events} events`, backend);
        const empty = await sending(session, 0, `round ${n}, nothing after ${events} events`, backend);
        if (n < WARM_UP_RUNS) continue;
        rows[index].turn.push(turn);
        rows[index].empty.push(empty);
      }
    }
    return reportOf(rows, runs);
  } finally {
    backend.stop();
    for (const session of sessions) session?.remove();
  }
}

// --- internal ---

/** A session with this many events, all of them drained. */
async function drainedSession(events, program, backend) {
  const turns = Math.ceil(events / EVENTS_PER_TURN);
  if (events > SLOW_EVENTS) console.log(`making a session of ${inWhole(events)} events, which takes minutes`);
  const session = new LongSession(turns, program);
  await sending(session, turns * SPANS_PER_TURN, `the ${events} events before`, backend);
  return session;
}

/** @throws if another number of spans arrives: a drain that does nothing is fast */
async function sending(session, spans, what, backend) {
  const before = await backend.counts();
  const measured = await session.drain(backend.url);
  const arrived = (await backend.counts()).spans - before.spans;
  if (arrived === spans) return measured;
  throw new Error(`${what}: expected ${spans} spans, ${arrived} arrived. The drain log:\n${session.log()}`);
}

function reportOf(rows, runs) {
  const of = (row, kind, name) => row[kind].map((one) => one[name]);
  // Most of a drain is the start of Node: subtract the empty drain of the shortest session to get the turn's own cost
  const ownOf = (row, name) => of(row, "turn", name).map((value) => value - median(of(rows[0], "empty", name)));
  const cells = rows.map((row) => {
    const wallMs = of(row, "turn", "wallMs");
    const peaks = of(row, "turn", "peakKib");
    return [
      inWhole(row.events),
      inTime(median(wallMs)),
      spread(wallMs, inTime),
      inTime(median(of(row, "turn", "cpuMs"))),
      inTime(median(of(row, "empty", "wallMs"))),
      inTime(median(ownOf(row, "wallMs"))),
      inMiB(peaks[0] === undefined ? undefined : median(peaks)),
    ];
  });
  const head = [
    "events before",
    "drain of a turn",
    "half of all",
    "processor",
    "empty drain",
    "the turn's own",
    "peak",
  ];
  const [shortest, longest] = [rows[0], rows.at(-1)];
  const name = `${inWhole(longest.events)} to ${inWhole(shortest.events)} events`;
  const compared = [
    ["the whole drain", ratios(of(longest, "turn", "wallMs"), of(shortest, "turn", "wallMs"))],
    ["its processor time", ratios(of(longest, "turn", "cpuMs"), of(shortest, "turn", "cpuMs"))],
    ["a drain that finds nothing", ratios(of(longest, "empty", "wallMs"), of(shortest, "empty", "wallMs"))],
    ["the turn's own, without an empty drain", [median(ownOf(longest, "wallMs")) / median(ownOf(shortest, "wallMs"))]],
  ];
  const ratioRows = compared.map(([text, values]) => [
    text,
    inRatio(median(values)),
    values.length === 1 ? "of the medians" : spread(values, inRatio),
  ]);
  const goals = compared
    .filter((_, n) => n === 0 || n === 3)
    .map(([text, values]) =>
      goal(`one new turn, ${name}, ${text}: at most ${GOAL}`, inRatio(median(values)), median(values) <= GOAL),
    );
  return {
    title: "Drain of one new turn",
    text: [
      `${EVENTS_PER_TURN} events and ${LINES_PER_TURN} transcript lines each, ${SPANS_PER_TURN} spans sent; medians of ${runs}, interleaved`,
      table(head, cells),
      table([`ratio, ${name}`, "median", "half of all"], ratioRows),
    ].join("\n\n"),
    goals,
    figures: rows,
  };
}

if (isCalled(import.meta.url)) {
  await started(async () => {
    const options = optionsOf({ sizes: { type: "string", default: SIZES } });
    printReport(await benchDrain({ ...options, sizes: sizesOf(options.sizes) }));
  });
}
