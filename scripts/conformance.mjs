// Writes conformance/native from the recordings in test/agents: of each agent one payload of each kind, and what any converter must
// find in it. `--check` writes nothing and exits 1 if a file is stale.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AS_THE_PROGRAM, importBundled, typescript } from "./import-bundled.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const check = process.argv.includes("--check");
const folder = join(root, "conformance", "native");

/** Larger payloads show nothing that smaller ones do not. */
const MAX_BYTES = 3_000;
const MAX_OF_A_KIND = 2;

const { allAgents, convertAll, payloadsOf } = await importBundled({
  stdin: typescript(`
    export { allAgents } from "./src/agents/registry.ts";
    export { convertAll } from "./src/collect/convert/envelopes.ts";
    export { payloadsOf } from "./src/collect/convert/input.ts";
  `),
  ...AS_THE_PROGRAM,
});
const agents = await allAgents();
/** Agents whose payloads were recorded, and others that have a file already: payloads written by hand prove less. */
const chosen = agents.filter(
  ({ source, capabilities: of }) =>
    (of.basis === "recorded" && of.versions !== undefined) || existsSync(join(folder, `${source}.jsonl`)),
);

if (!check) await rm(folder, { recursive: true, force: true });
for (const { source } of chosen) {
  const name = join(folder, `${source}.jsonl`);
  const vectors = await vectorsOf(source);
  // No recordings of hooks
  if (vectors.length === 0) continue;
  const text = vectors.map((vector) => `${JSON.stringify(vector)}\n`).join("");
  if ((await readFile(name, "utf8").catch(() => "")) === text) continue;
  if (check) {
    console.error(`conformance/native/${source}.jsonl is stale: run node scripts/conformance.mjs`);
    process.exitCode = 1;
  } else {
    await mkdir(folder, { recursive: true });
    await writeFile(name, text);
    console.log(`wrote conformance/native/${source}.jsonl`);
  }
}

async function vectorsOf(source) {
  const cases = join(root, "test", "agents", source);
  const kinds = new Map();
  for (const name of (await readdir(cases).catch(() => [])).sort()) {
    for (const file of ["hooks.jsonl", "calls.jsonl"]) {
      const lines = await readFile(join(cases, name, file), "utf8").catch(() => "");
      for (const line of lines.split("\n").filter((one) => one !== "")) collect(kinds, source, JSON.parse(line));
    }
  }
  const vectors = [...kinds.values()].flat();
  // Each converter may decide whether a subagent's prompt or a nested call is a separate event, so an empty result is
  // expected only for events that never have an envelope
  const withEnvelope = new Set(vectors.filter(({ expected }) => expected.length > 0).map(({ event }) => event));
  return vectors
    .filter(({ event, expected }) => expected.length > 0 || !withEnvelope.has(event))
    .map((vector, index) => ({ ...vector, name: `${index + 1} ${vector.event}` }));
}

function collect(kinds, source, { event, stdin, stdin_raw }) {
  const input = stdin ?? parsed(stdin_raw);
  const size = JSON.stringify(input)?.length ?? 0;
  if (input === undefined || input === null || size === 2 || size > MAX_BYTES) return;
  const given = { source, event };
  const { envelopes, problems } = convertAll(
    payloadsOf(Buffer.from(JSON.stringify(input)), given, Date.now),
    agents,
    "context",
  );
  const found = envelopes.filter(({ type }) => type !== "file.write");
  // Skip payloads that need something beside them, such as an id from the process
  if (problems.length > 0 || found.some((one) => one.source !== source || isAssigned(one))) return;
  const kind = `${event} ${found.map(({ type }) => type).join(" ")} ${found.map((one) => one.data?.status).join(" ")}`;
  const known = kinds.get(kind) ?? [];
  if (known.length >= MAX_OF_A_KIND) return;
  kinds.set(kind, known);
  const level = found.some(({ type }) => type === "session.end") ? 1 : 2;
  known.push({ name: event, level, source, event, input, expected: found.map((one) => determinedBy(one, input)) });
}

function isAssigned({ extensions, session_id }) {
  return extensions?.session_id_origin !== undefined || session_id.startsWith("minted");
}

/** The members whose values are in the payload itself: another converter has other ids and may choose other names. */
function determinedBy({ source, type, session_id, data = {}, extensions }, input) {
  const text = JSON.stringify(input);
  const isDetermined = ([name, value]) =>
    typeof value === "string" &&
    (name === "status" ? extensions?.status_origin !== "assumed" : name !== "reason" && text.includes(`"${value}"`));
  const determined = Object.fromEntries(Object.entries(data).filter(isDetermined));
  return { source, type, session_id, ...(Object.keys(determined).length > 0 && { data: determined }) };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
