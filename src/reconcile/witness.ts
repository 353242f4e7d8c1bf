import { openJsonl } from "../agents/shared/transcript/jsonl.ts";
import { readWhole } from "../agents/shared/transcript/whole.ts";
import type { TranscriptFile } from "../model/agent.ts";
import type { EntryOf } from "../model/transcript.ts";
import { type ShapedUsage, usagesIn } from "../model/usage-shapes.ts";

// A second witness beside the agent's reader, which may pass over what it does not know: every usage in the files, whatever the record

/** Usage of one kind of record in a session's files that is in none of the calls that the agent's reader found. */
export interface UnexplainedUsage {
  /** The record's kind and the members that lead to the usage. */
  readonly place: string;
  readonly records: number;
  readonly input: number;
  readonly output: number;
}

type Call = Pick<EntryOf<"model_call">, "usage" | "agentId" | "promptKey">;

/**
 * @param calls as the agent's reader returned them, in the order of their times
 * @param repeats places whose usage repeats that of calls in another form, as the agent's card declares
 * @returns by place; empty for files that are no text
 */
export async function unexplainedUsage(
  files: readonly TranscriptFile[],
  calls: readonly Call[],
  repeats: readonly string[] = [],
): Promise<readonly UnexplainedUsage[]> {
  const known = explainedBy(calls);
  const found = new Map<string, UnexplainedUsage>();
  const seen = new Set<string>();
  for (const file of files) {
    for await (const record of recordsIn(file)) {
      for (const usage of usagesIn(record)) {
        const place = placeOf(record, usage);
        const identity = `${place} ${idOf(record)} ${usage.input} ${usage.output}`;
        if (known(usage) || seen.has(identity) || repeats.some((one) => place.endsWith(one))) continue;
        seen.add(identity);
        const { records = 0, input = 0, output = 0 } = found.get(place) ?? {};
        found.set(place, { place, records: records + 1, input: input + usage.input, output: output + usage.output });
      }
    }
  }
  return [...found.values()];
}

// --- internal ---

async function* recordsIn(file: TranscriptFile): AsyncGenerator<unknown> {
  if (/\.json$/.test(file.path)) {
    yield (await readWhole(file)).object;
    return;
  }
  if (!/\.jsonl(?:\.zst)?$/.test(file.path)) return;
  const jsonl = await openJsonl(file.path, { fromBytes: 0, roots: file.roots });
  try {
    for await (const { lines } of jsonl.batches) {
      for (const line of lines) {
        try {
          yield JSON.parse(line.text());
        } catch {
          // The reader reports lines that are no JSON
        }
      }
    }
  } finally {
    await jsonl.close();
  }
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});

/** The kinds that a record and the parts of it name, then the path. */
function placeOf(record: unknown, { path }: ShapedUsage): string {
  const o = fieldsOf(record);
  const kinds = [o, fieldsOf(o["payload"]), fieldsOf(o["message"])].flatMap((one) => [one["type"], one["role"]]);
  return `${kinds.filter((kind) => typeof kind === "string").join("/")} ${path}`;
}

/** The id that a record, or the answer in it, has in all files. */
function idOf(record: unknown): string {
  const o = fieldsOf(record);
  return [fieldsOf(o["message"])["id"], o["uuid"], o["id"]].find((id) => typeof id === "string") as string;
}

/** Whether usage is a call's, with or without its cache and reasoning, or a sum of calls. */
function explainedBy(calls: readonly Call[]): (usage: ShapedUsage) => boolean {
  const pairs = new Set<string>();
  const sums = new Set<number>();
  const running = new Map<string, number>();
  for (const { usage, agentId, promptKey } of calls) {
    if (usage === undefined) continue;
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0 } = usage;
    const inputs = [input, input - cacheRead, input - cacheWrite, input - cacheRead - cacheWrite];
    for (const one of inputs) for (const other of [output, output - reasoning]) pairs.add(`${one} ${other}`);
    for (const of of ["all", `agent ${agentId}`, `prompt ${promptKey}`, `${agentId} ${promptKey}`]) {
      const sum = (running.get(of) ?? 0) + output;
      running.set(of, sum);
      sums.add(sum);
    }
  }
  return ({ input, output }) => pairs.has(`${input} ${output}`) || (output > 0 && sums.has(output));
}
