// node bench/export.mjs [--runs N] [--spans N] [--program FILE]
// How fast queued spans are sent: the program's drain, from start to exit, compared with the OpenTelemetry SDK's exporter, which
// sends as many spans from memory and stores nothing.
import { cpSync, rmSync } from "node:fs";
import { startBackend } from "./lib/backend.mjs";
import { bundled } from "./lib/bundle.mjs";
import { comparison, inWhole, median, printReport } from "./lib/figures.mjs";
import { makeHome } from "./lib/home.mjs";
import { LongSession, SPANS_PER_TURN } from "./lib/long-session.mjs";
import { measure } from "./lib/measure.mjs";
import { countOf, isCalled, optionsOf, started } from "./lib/options.mjs";
import { inRounds } from "./lib/rounds.mjs";

export const SPANS = "10000";
const [OURS, UNBOUND, BARE] = ["our drain", "the same, unbound", "the SDK's exporter"];
/** Lifts the default limit of 2,000 spans a second, which protects a backend that comes back after an outage. */
const FASTEST = { OPENHOOK_OTEL_OUTBOX_MAX_SPANS_PER_SECOND: "1000000" };
/** Nothing listens on this port. */
const UNREACHABLE = "http://127.0.0.1:9";

export async function benchExport({ runs, spans, program }) {
  const turns = Math.ceil(spans / SPANS_PER_TURN);
  const count = turns * SPANS_PER_TURN;
  const { home: scratch, env, remove } = makeHome();
  const backend = await startBackend();
  const session = new LongSession(turns, program);
  try {
    const exporter = await bundled("bare-export", scratch);
    await session.drain(UNREACHABLE);
    const queued = `${session.stateDir}.queued`;
    cpSync(session.stateDir, queued, { recursive: true });
    const sending = async (send) => {
      const before = await backend.counts();
      const measured = await send();
      const arrived = (await backend.counts()).spans - before.spans;
      if (arrived !== count) throw new Error(`expected ${count} spans, ${arrived} arrived`);
      return measured;
    };
    const ours = (settings) => {
      rmSync(session.stateDir, { recursive: true, force: true });
      cpSync(queued, session.stateDir, { recursive: true });
      return sending(() => session.drainByHand(backend.url, settings));
    };
    const measured = await inRounds(
      {
        [OURS]: () => ours({}),
        [UNBOUND]: () => ours(FASTEST),
        [BARE]: () => sending(() => measure([process.execPath, exporter, backend.url, String(count)], { env })),
      },
      runs,
    );
    const perSecond = (name) => `${name}: ${inWhole((count / median(measured[name].map((one) => one.wallMs))) * 1000)}`;
    return {
      title: "Export",
      text: [
        `${inWhole(count)} queued spans, to a backend on loopback; medians of ${runs}, interleaved; all arrived. By default at most 2,000 a second are sent; "unbound" is without that limit.`,
        comparison(measured, BARE),
        `spans per second, start of the process included: ${Object.keys(measured).map(perSecond).join(", ")}`,
      ].join("\n\n"),
      goals: [],
    };
  } finally {
    backend.stop();
    session.remove();
    remove();
  }
}

if (isCalled(import.meta.url)) {
  await started(async () => {
    const options = optionsOf({ runs: { type: "string", default: "5" }, spans: { type: "string", default: SPANS } });
    printReport(await benchExport({ ...options, spans: countOf("--spans", options.spans) }));
  });
}
