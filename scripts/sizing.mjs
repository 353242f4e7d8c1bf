// node scripts/sizing.mjs [--sessions N] [--turns N] [--model-calls N] [--tool-calls N] [--subagents N] [--write]
// Estimates events, spans, bytes and series of a developer's day. Drains each recorded session into a store, sends it to a
// counting receiver on loopback, and multiplies the averages by a working day, which options change. `--write` puts both
// tables into docs/sizing.md, between their markers.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { build } from "esbuild";
import { AS_THE_PROGRAM } from "./import-bundled.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const page = join(root, "docs", "sizing.md");
/** A busy working day of one developer; turns per session, the others per turn. Assumed, not measured. */
const DAY = { sessions: 10, turns: 6, "model-calls": 12, "tool-calls": 10, subagents: 0.2 };
/** Team sizes in developers. */
const TEAMS = [10, 1_000, 100_000];
/** Assumed: share of developers active on a day, hours per day, and the busiest hour's ratio to the mean. */
const TEAM = { active: 0.8, hours: 8, peak: 3, workingDays: 22 };
/** According to the documentation of Prometheus: 1 to 2 bytes per sample on disk. */
const BYTES_PER_SAMPLE = 2;
const RETENTION_DAYS = { traces: 30, metrics: 365 };
/** Assumed size of stored traces relative to the received protobuf. Columns and compression reduce it, indexes increase it. */
const TRACE_STORE_FACTOR = 0.5;
const SCRAPE_SECONDS = 60;

const { values } = parseArgs({
  options: {
    ...Object.fromEntries(
      Object.entries(DAY).map(([name, value]) => [name, { type: "string", default: String(value) }]),
    ),
    write: { type: "boolean", default: false },
  },
});
const day = Object.fromEntries(Object.keys(DAY).map((name) => [name, Number(values[name])]));
if (Object.values(day).some((value) => !(value >= 0))) throw new Error("every option must be a number, 0 or more");

const measured = await measure();
const developer = dayOf(measured);
const sections = { developer: developerTable(measured, developer), teams: teamTable(developer) };
for (const text of Object.values(sections)) console.log(`${text}\n`);
if (values.write) {
  let text = readFileSync(page, "utf8");
  for (const [name, table] of Object.entries(sections)) {
    const marked = new RegExp(`(<!-- ${name}: generated -->\n)[^]*?(<!-- /${name} -->)`);
    if (!marked.test(text)) throw new Error(`${page} has no <!-- ${name}: generated --> … <!-- /${name} -->`);
    text = text.replace(marked, (_, begin, end) => `${begin}\n${table}\n\n${end}`);
  }
  writeFileSync(page, text);
  console.log(`wrote ${page}`);
}

// --- internal ---

async function measure() {
  const { Replay, allAgents, openDatabase } = await program();
  const recordings = recordingsOf((await allAgents()).map(({ source }) => source));
  const sums = {
    sessions: 0,
    turns: 0,
    tools: 0,
    models: 0,
    subagents: 0,
    events: 0,
    eventBytes: 0,
    spans: 0,
    recordBytes: 0,
  };
  const wire = { traces: { gzip: 0, plain: 0 }, metrics: { gzip: 0, points: 0 } };
  const streams = new Map();
  for (const { source, name } of recordings) {
    const backend = await counting();
    const replay = new Replay(source, name);
    if (!streams.has(source)) streams.set(source, new Map());
    try {
      addEvents(replay, sums);
      await addDeliveries(replay, backend, wire);
      const db = openDatabase(replay.places.storePath);
      addStored(db, sums);
      wire.metrics.points += addStreams(db, streams.get(source));
      db.close();
    } finally {
      replay.remove();
      await backend.close();
    }
  }
  return { recordings: recordings.length, sums, wire, streams };
}

function recordingsOf(sources) {
  return sources.flatMap((source) => {
    const folder = join(root, "test", "agents", source);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((name) => existsSync(join(folder, name, "expected.json")))
      .map((name) => ({ source, name }));
  });
}

/** Fills the inbox. */
function addEvents(replay, sums) {
  for (const call of replay.calls) replay.put(call);
  const inbox = replay.places.inboxDir;
  const files = existsSync(inbox) ? readdirSync(inbox) : [];
  sums.events += files.length;
  for (const file of files) sums.eventBytes += statSync(join(inbox, file)).size;
}

async function addDeliveries(replay, backend, wire) {
  replay.env = { OPENHOOK_OTEL_OTLP_ENDPOINT: backend.url };
  await replay.drain({ endIdle: true, isEager: true });
  wire.traces.gzip += backend.traces.gzip;
  wire.traces.plain += backend.traces.plain;
  // Measure the second delivery: all streams once more. The first one also contains a zero point for each
  backend.metrics.gzip = 0;
  await replay.drain({ endIdle: true, isEager: true });
  wire.metrics.gzip += backend.metrics.gzip;
}

function addStored(db, sums) {
  const one = (sql) => Number(Object.values(db.prepare(sql).get() ?? { n: 0 })[0]);
  sums.sessions += one("SELECT count(*) FROM sessions WHERE parent IS NULL");
  sums.turns += one("SELECT count(*) FROM turns WHERE origin IN ('human', 'machine')");
  sums.tools += one("SELECT count(*) FROM tool_calls");
  sums.models += one("SELECT count(*) FROM model_calls");
  sums.subagents += one("SELECT count(*) FROM subagents");
  sums.spans += one("SELECT count(*) FROM spans");
  sums.recordBytes += one("SELECT coalesce(sum(length(CAST(record AS BLOB))), 0) FROM spans");
}

/** Adds the number of series of each stream. @returns the number of streams of this store */
function addStreams(db, series) {
  const rows = db.prepare("SELECT identity, histogram FROM counters").all();
  for (const { identity, histogram } of rows) {
    // As in Prometheus: one series per bucket, including +Inf, and two for sum and count
    const count = histogram === null ? 1 : JSON.parse(String(histogram)).bucketCounts.length + 2;
    series.set(String(identity), count);
  }
  return rows.length;
}

/** One developer's day, from the measured averages per span, event and stream. */
function dayOf({ sums, wire, streams }) {
  const turns = day.sessions * day.turns;
  const [models, tools, subagents] = ["model-calls", "tool-calls", "subagents"].map((name) => turns * day[name]);
  const spans = day.sessions + turns + models + tools + subagents;
  // Hooks report starts and ends of sessions, turns, tool calls and subagents
  const events = 2 * (day.sessions + turns + tools + subagents);
  // A drain at the end of each turn and session sends new spans and every stream
  const deliveries = turns + day.sessions;
  const largest = [...streams.values()].sort((a, b) => b.size - a.size)[0];
  const count = (of) => ({
    streams: of.size,
    series: [...of.values()].reduce((a, b) => a + b, 0),
    counters: [...of.values()].filter((series) => series === 1).length,
  });
  const one = count(largest);
  const all = count(new Map([...streams.values()].flatMap((of) => [...of])));
  const bytes = {
    event: sums.eventBytes / sums.events,
    spanGzip: wire.traces.gzip / sums.spans,
    spanPlain: wire.traces.plain / sums.spans,
    record: sums.recordBytes / sums.spans,
    point: wire.metrics.gzip / wire.metrics.points,
  };
  return {
    turns,
    models,
    tools,
    subagents,
    spans,
    events,
    deliveries,
    one,
    all,
    bytes,
    inboxBytes: events * bytes.event,
    traceBytes: spans * bytes.spanPlain,
    traceGzip: spans * bytes.spanGzip,
    metricGzip: deliveries * one.streams * bytes.point,
    outboxBytes: spans * bytes.record,
  };
}

function developerTable({ recordings, sums }, of) {
  const rows = [
    ["turns", `${day.sessions} sessions × ${day.turns}`, whole(of.turns)],
    ["model calls", `${whole(of.turns)} turns × ${day["model-calls"]}`, whole(of.models)],
    ["tool calls", `${whole(of.turns)} turns × ${day["tool-calls"]}`, whole(of.tools)],
    ["subagents", `${whole(of.turns)} turns × ${day.subagents}`, whole(of.subagents)],
    ["**spans**", "one for each of these and for each session", `**${whole(of.spans)}**`],
    ["events (hook calls)", "a start and an end of each except model calls", whole(of.events)],
    ["in the inbox until the next drain", `events × ${whole(of.bytes.event)} bytes measured`, mega(of.inboxBytes)],
    ["deliveries", "at each turn's and session's end, two requests each", whole(of.deliveries)],
    ["traces on the wire, gzip", `spans × ${whole(of.bytes.spanGzip)} bytes measured`, mega(of.traceGzip)],
    ["the same, uncompressed protobuf", `spans × ${whole(of.bytes.spanPlain)} bytes measured`, mega(of.traceBytes)],
    [
      "metrics on the wire, gzip",
      `deliveries × ${of.one.streams} streams × ${of.bytes.point.toFixed(1)} bytes measured`,
      mega(of.metricGzip),
    ],
    ["queue, per day without a backend", `spans × ${whole(of.bytes.record)} bytes measured`, mega(of.outboxBytes)],
    [
      "**series in Prometheus**, one agent",
      `${of.one.streams} streams, histograms by bucket`,
      `**${whole(of.one.series)}**`,
    ],
    ["the same without histograms", "counters only", whole(of.one.counters)],
    ["series, all recorded agents", `${of.all.streams} streams`, whole(of.all.series)],
  ];
  const from = `Measured on ${recordings} recordings: ${sums.sessions} sessions, ${whole(sums.spans)} spans, ${whole(sums.events)} events, at \`capture: metadata\`.`;
  return `${from}\n\n${table(["one developer, one day", "how", ""], rows)}`;
}

function teamTable(of) {
  const columns = TEAMS.map((developers) => {
    const active = developers * TEAM.active;
    const seconds = TEAM.hours * 3600;
    const peak = (perDay) => (active * perDay * TEAM.peak) / seconds;
    const series = developers * of.one.series;
    const days = (retention) => (retention * TEAM.workingDays * 12) / 365;
    // Pushed: one sample per series and delivery. Scraped: one per minute, day and night
    const pushed = active * of.deliveries * of.one.series * days(RETENTION_DAYS.metrics);
    const scraped = (series / SCRAPE_SECONDS) * 86_400 * RETENTION_DAYS.metrics;
    return [
      whole(active),
      short(active * of.spans),
      short(peak(of.spans)),
      short(peak(of.deliveries * 2)),
      `${disk(peak(of.traceGzip + of.metricGzip))}/s`,
      `${disk(peak(of.traceBytes))}/s`,
      disk(active * of.traceBytes * TRACE_STORE_FACTOR * days(RETENTION_DAYS.traces)),
      short(series),
      short(developers * of.one.counters),
      short(peak(of.deliveries * of.one.series)),
      disk(pushed * BYTES_PER_SAMPLE),
      disk(scraped * BYTES_PER_SAMPLE),
    ];
  });
  const names = [
    `developers active on a day (${TEAM.active * 100} %)`,
    "spans a day",
    `spans/s in the busiest hour (${TEAM.peak} × the mean of ${TEAM.hours} h)`,
    "requests/s, then",
    "into the gateway, gzip, then",
    "traces out of it, protobuf, then",
    `traces on disk, ${RETENTION_DAYS.traces} days (× ${TRACE_STORE_FACTOR})`,
    "active series",
    "the same without histograms",
    "samples/s pushed, busiest hour",
    `Prometheus' disk, ${RETENTION_DAYS.metrics} days, pushed (OTLP)`,
    `the same, scraped every ${SCRAPE_SECONDS} s`,
  ];
  return table(
    ["developers", ...TEAMS.map((n) => n.toLocaleString("en"))],
    names.map((name, row) => [name, ...columns.map((column) => column[row])]),
  );
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [
    line(head),
    line(head.map((_, i) => (i === 0 || head[i] === "how" ? "---" : "---:"))),
    ...rows.map(line),
  ].join("\n");
}

function whole(n) {
  return Math.round(n).toLocaleString("en");
}

function scaled(n, units) {
  let [value, unit] = [n, 0];
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${value < 10 ? value.toFixed(1) : whole(value)}${units[unit]}`;
}

function short(n) {
  return scaled(n, ["", " thousand", " million", " thousand million"]);
}

function disk(n) {
  return scaled(n, [" B", " kB", " MB", " GB", " TB", " PB"]);
}

function mega(n) {
  return `${(n / 1e6).toFixed(2)} MB`;
}

/** A receiver that accepts everything and counts bytes. */
async function counting() {
  const found = { traces: { gzip: 0, plain: 0 }, metrics: { gzip: 0 } };
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (request.url?.endsWith("/traces")) {
      found.traces.gzip += body.length;
      found.traces.plain += gunzipSync(body).length;
    } else found.metrics.gzip += body.length;
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${server.address().port}`;
  return { ...found, url, close: () => new Promise((done) => server.close(done)) };
}

/** Parts of the program, and the tests' `Replay`, which puts a recording into a home. */
async function program() {
  // Below node_modules, so that libsql finds its binary
  const folder = join(root, "node_modules", ".cache", `openhook-sizing-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, "entry.mjs");
  try {
    await build({
      stdin: {
        contents: `export { Replay } from "./test/support/replay.ts"; export { allAgents } from "./src/agents/registry.ts";
          export { openDatabase } from "./src/store/database.ts";`,
        resolveDir: root,
        loader: "ts",
      },
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      ...AS_THE_PROGRAM,
      define: { "import.meta.url": JSON.stringify(pathToFileURL(join(root, "test", "support", "replay.ts")).href) },
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(process.cwd() + "/");',
      },
      logLevel: "warning",
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
