import type { EntryOf } from "#core/model/transcript.ts";
import { sumKnown } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { asCount, asObject, asString, asTimeMs } from "../shared/payload/json.ts";
import { entryBase, type LineContext, type LineState, type RunSums, type Sums } from "./line-context.ts";
import { addSums, hasDecreased, requestsIn, subtractSums } from "./usage.ts";

// Versions without a record per call write sums only when a run ends; some also write the output tokens of each answer. We make
// one usage record per run and model: the output of the answers so far, replaced by the run's sums. A run that was killed keeps
// its output, because no version adds it to later sums.

/** The state after a line that begins a run of the program on an existing session. */
export function nextRun(state: LineState, id: string): LineState {
  if (state.hasRecords === true) return state;
  const { run, ...rest } = state;
  const sums = run?.told ?? state.sums;
  return { ...rest, ...(sums !== undefined && { sums }), run: { id } };
}

/** The usage of the run so far, after an answer; none if its output is unknown, or `key` names an answer that is counted. */
export function withAnswer(
  context: LineContext,
  key: string,
): { readonly entries: readonly Call[]; readonly state: LineState } {
  const before = context.state.run ?? {};
  const answers = oneMore(before.answers, key);
  const run = { ...before, answers };
  const output = asCount(context.data["outputTokens"]);
  if (answers === before.answers || output === undefined || output === 0) {
    return { entries: [], state: { ...context.state, run } };
  }
  const name = asString(context.data["model"]) ?? UNNAMED;
  const model = Object.entries(run.names ?? {}).find(([, record]) => record === name)?.[0] ?? asString(name);
  const startMs = run.startMs ?? context.state.startMs ?? 0;
  const outputs = { ...run.outputs, [name]: (run.outputs?.[name] ?? 0) + output };
  const next: RunSums = { ...run, startMs, outputs };
  return { entries: [recordOf(context, next, name, model)], state: { ...context.state, run: next } };
}

/** The usage of the run by a line of sums, and the session's sums. */
export function withSums(
  context: LineContext,
  lineSums: Sums,
): { readonly entries: readonly Call[]; readonly all: Sums; readonly state: LineState } {
  const { data } = context;
  const start = data["sessionStartTime"] ?? asObject(data["accountingSnapshot"])?.["sessionStartTime"];
  const sumsStartMs = asCount(start) ?? asTimeMs(start) ?? 0;
  const requests = requestsIn(data);
  const last = context.state.run?.told;
  const isOther = last !== undefined && (last.startMs !== sumsStartMs || hasDecreased(last.told, lineSums));
  const state = isOther ? nextRun(context.state, context.id) : context.state;
  const { outputs, ...soFar } = state.run ?? {};
  const earlier = state.sums?.startMs === sumsStartMs ? state.sums : undefined;
  const continues = earlier !== undefined && !hasRestarted(earlier, lineSums, requests, soFar.answers?.count ?? 0);
  const own = continues ? subtractSums(lineSums, earlier.told) : lineSums;
  const before = continues ? earlier.before : addSums(earlier?.before ?? {}, earlier?.told ?? {});
  const run: RunSums = {
    ...soFar,
    startMs: soFar.startMs ?? state.startMs ?? sumsStartMs,
    told: { startMs: sumsStartMs, told: lineSums, before, requests },
    own,
    names: namesOf(own, soFar.names ?? {}, outputs ?? {}),
  };
  const entries = Object.keys(own).map((model) => recordOf(context, run, run.names?.[model] ?? model, model));
  return { entries, all: addSums(before, lineSums), state: { ...state, run } };
}

// --- internal ---

type Call = EntryOf<"model_call">;

/** Name of the record of answers that do not name their model. */
const UNNAMED = "";

function recordOf(context: LineContext, run: RunSums, name: string, model: string | undefined): Call {
  const { timeMs, promptKey } = entryBase(context, "");
  const known = model === undefined ? undefined : run.own?.[model];
  const output = run.outputs?.[name];
  const place = run.id === undefined ? name : `${run.id}:${name}`;
  return defined<Call>({
    kind: "model_call",
    key: `sums:${run.startMs ?? 0}:${place}`,
    timeMs,
    promptKey,
    endMs: context.timeMs,
    model,
    usage: known === undefined ? { output } : { ...known, output: sumKnown([known.output, output]) },
    complete: true,
    covers: "turn",
  });
}

/**
 * Some versions (1.0.75) continue counting when a session is resumed, others (1.0.60) restart with each run without reporting it.
 * Counting restarted if a figure is smaller, or if there are about as many requests as answers in this run.
 */
const hasRestarted = (earlier: NonNullable<LineState["sums"]>, now: Sums, requests: number, answers: number): boolean =>
  hasDecreased(earlier.told, now) || (requests > 0 && requests < answers + earlier.requests / 2);

/**
 * The records that a run's sums replace, by model. An answer can name its model differently than the sums or not at all: the
 * records that are left belong to the models that are left, by output.
 */
function namesOf(own: Sums, known: Readonly<Record<string, string>>, outputs: Readonly<Record<string, number>>) {
  const names: Record<string, string> = { ...known };
  for (const model of Object.keys(own)) if (outputs[model] !== undefined) names[model] ??= model;
  const taken = new Set(Object.values(names));
  const records = Object.entries(outputs).sort(([, a], [, b]) => b - a);
  const models = Object.entries(own).sort(([, a], [, b]) => (b.output ?? 0) - (a.output ?? 0));
  const left = records.map(([name]) => name).filter((name) => !taken.has(name));
  for (const [model] of models) names[model] ??= left.shift() ?? model;
  return names;
}

const REMEMBERED_ANSWERS = 8;

function oneMore(answers: RunSums["answers"], key: string): NonNullable<RunSums["answers"]> {
  if (answers === undefined) return { count: 1, last: [key] };
  if (answers.last.includes(key)) return answers;
  return { ...answers, count: answers.count + 1, last: [...answers.last.slice(1 - REMEMBERED_ANSWERS), key] };
}
