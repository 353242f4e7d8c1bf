// node reader.cjs ours|rows|parse|usage <agent> <file with paths>: reads transcripts in one of four ways and prints totals.
// `parse` and `usage` are lower bounds: they only parse lines.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { basename } from "node:path";
import { CALL } from "#core/packed/fact-tables.ts";
import claudeCode from "../../src/agents/claude-code/transcript.ts";
import codex from "../../src/agents/codex/transcript.ts";
import { RowSink } from "../../src/collect/import/row-sink.ts";
import { INITIAL_OFFSET } from "../../src/core/model/initial-offset.ts";

const READERS = { "claude-code": claudeCode, codex };
const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;
/** Only lines with token usage contain it: inside a string the quotes would be escaped. */
const MARKS = { "claude-code": '"usage":{', codex: '"total_token_usage":' };

const [, , kind, agent, list] = process.argv;
const paths = readFileSync(list, "utf8").split("\n");
const read = { ours: readByEntries, rows: readByRows }[kind] ?? (async () => readByLines());
read().then((totals) => console.log(JSON.stringify(totals)));

async function readByEntries() {
  // An answer may be recorded several times, in one file or two: use the one with most output
  const answers = new Map();
  for (const path of paths) {
    const agentId = /^agent-(.*)\.jsonl$/.exec(basename(path))?.[1];
    for await (const { entries } of READERS[agent].read(
      { path, ...(agentId !== undefined && { agentId }) },
      INITIAL_OFFSET,
    )) {
      for (const entry of entries) {
        if (entry.kind !== "model_call") continue;
        const key = entry.globalKey ?? `${path} ${entry.key}`;
        const known = answers.get(key);
        if (known === undefined || known.output < entry.usage.output) answers.set(key, entry.usage);
      }
    }
  }
  return totalsOf(answers);
}

function totalsOf(answers) {
  const sum = (of) => [...answers.values()].reduce((all, usage) => all + (of(usage) ?? 0), 0);
  const both = { responses: answers.size, output: sum((u) => u.output), cache_read: sum((u) => u.cacheRead) };
  return agent === "codex"
    ? { ...both, input: sum((u) => u.input), reasoning: sum((u) => u.reasoning) }
    : { ...both, input: sum((u) => u.input - u.cacheRead - u.cacheWrite), cache_creation: sum((u) => u.cacheWrite) };
}

/** The way imports read: facts go into tables. */
async function readByRows() {
  const answers = new Map();
  const clean = { id: (id) => id, name: (name) => name, entry: (entry) => entry };
  for (const path of paths) {
    const agentId = /^agent-(.*)\.jsonl$/.exec(basename(path))?.[1];
    const sink = new RowSink(agent, clean, () => false);
    const file = { path, ...(agentId !== undefined && { agentId }) };
    for await (const _ of READERS[agent].read(file, INITIAL_OFFSET, { blocks: true, sink }));
    const { texts, tables } = sink.tables();
    const { data, stride, rows } = tables.model_call;
    for (let at = 0; at < rows * stride; at += stride) {
      const known = (place) => (Number.isNaN(data[at + place]) ? undefined : data[at + place]);
      const global = data[at + CALL.globalKey];
      const responseId = texts[known(CALL.responseId)] ?? "";
      const key = global >= 0 ? texts[global] : (texts[known(CALL.key)] ?? responseId);
      const output = known(CALL.output) ?? 0;
      if ((answers.get(key)?.output ?? -1) >= output) continue;
      answers.set(key, {
        input: known(CALL.input),
        output,
        cacheRead: known(CALL.cacheRead),
        cacheWrite: known(CALL.cacheWrite),
        reasoning: known(CALL.reasoning),
      });
    }
  }
  return totalsOf(answers);
}

function readByLines() {
  const answers = new Map();
  let records = 0;
  for (const path of paths) {
    let last;
    for (const line of linesOf(path)) {
      if (kind === "usage" && !line.includes(MARKS[agent])) continue;
      const record = JSON.parse(line.toString("utf8"));
      records++;
      if (agent === "codex") last = record.payload.info?.total_token_usage ?? last;
      else if (record.message?.usage !== undefined) addAnswer(answers, record.message);
    }
    if (last !== undefined) answers.set(path, last);
  }
  const sum = (name) => [...answers.values()].reduce((all, usage) => all + (usage[name] ?? 0), 0);
  if (agent === "codex") {
    return {
      ...(kind === "parse" && { lines: records }),
      input: sum("input_tokens"),
      output: sum("output_tokens"),
      cache_read: sum("cached_input_tokens"),
      reasoning: sum("reasoning_output_tokens"),
    };
  }
  return {
    ...(kind === "parse" && { lines: records }),
    responses: answers.size,
    input: sum("input_tokens"),
    output: sum("output_tokens"),
    cache_read: sum("cache_read_input_tokens"),
    cache_creation: sum("cache_creation_input_tokens"),
  };
}

function addAnswer(answers, { id, usage }) {
  const known = answers.get(id);
  if (known === undefined || known.output_tokens < usage.output_tokens) answers.set(id, usage);
}

/** Yields views of a chunk, valid until the next one is requested. */
function* linesOf(path) {
  const file = openSync(path, "r");
  let chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let held = 0;
  try {
    for (;;) {
      if (held === chunk.length) chunk = Buffer.concat([chunk, Buffer.allocUnsafe(chunk.length)]);
      const read = readSync(file, chunk, held, chunk.length - held, null);
      if (read === 0) return;
      const end = held + read;
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE, held); at !== -1 && at < end; at = chunk.indexOf(NEWLINE, start)) {
        yield chunk.subarray(start, at);
        start = at + 1;
      }
      chunk.copy(chunk, 0, start, end);
      held = end - start;
    }
  } finally {
    closeSync(file);
  }
}
