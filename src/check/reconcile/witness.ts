import { openJsonl } from "#agents/shared/transcript/jsonl.ts";
import { readWhole } from "#agents/shared/transcript/whole.ts";
import type { EntryOf } from "#core/model/transcript.ts";
import type { TranscriptFile } from "#core/model/transcript-reader.ts";
import { type ShapedUsage, usagesIn } from "#core/rules/usage-shapes.ts";

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
 * @returns by place; empty for files that are no text
 */
export async function unexplainedUsage(
  files: readonly TranscriptFile[],
  calls: readonly Call[],
  source: string,
): Promise<readonly UnexplainedUsage[]> {
  const isKnown = explainedBy(calls);
  const explained = new Set<string>();
  const rest = new Map<string, ShapedUsage & { readonly place: string }>();
  for (const file of files) {
    for await (const record of recordsIn(file)) {
      for (const usage of usagesIn(record)) {
        const place = placeOf(record, usage);
        if (RUNNING.test(usage.path) || OF_COPIES[source]?.test(usage.path) === true) continue;
        // An answer's first lines have less than its last one
        const id = idOf(record);
        const identity = `${place} ${id ?? `${usage.input} ${usage.output}`}`;
        if (isKnown(usage)) explained.add(identity);
        else rest.set(identity, { ...usage, place });
      }
    }
  }
  const found = new Map<string, UnexplainedUsage>();
  for (const [identity, usage] of rest) {
    if (explained.has(identity)) continue;
    const { place } = usage;
    const { records = 0, input = 0, output = 0 } = found.get(place) ?? {};
    found.set(place, { place, records: records + 1, input: input + usage.input, output: output + usage.output });
  }
  return [...found.values()];
}

// --- internal ---

/** Members with running totals, which can include other sessions and what is not paid for one by one. */
const RUNNING = /(?:^|\.)(?:total\w*|thread_token_usage|modelUsage|modelMetrics)(?:\.|$)/i;
/** Where forks have copies that cannot be told from their own calls: those are counted in the session they come from. */
const OF_COPIES: Readonly<Record<string, RegExp>> = {
  amp: /^(?:messages\.assistant\.usage|usageLedger\.events\.tokens)$/,
  grok: /^params\.update\.usage$/,
};

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
  const kinds = [o, fieldsOf(o["payload"]), fieldsOf(o["message"])].flatMap((fields) => [
    fields["type"],
    fields["role"],
  ]);
  return `${kinds.filter((kind) => typeof kind === "string").join("/")} ${path}`;
}

/** The id that a record, or the answer in it, has in all files. */
function idOf(record: unknown): string | undefined {
  const o = fieldsOf(record);
  return [fieldsOf(o["message"])["id"], o["uuid"], o["id"]].find((id) => typeof id === "string") as string | undefined;
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
    for (const reported of inputs)
      for (const answer of [output, output - reasoning]) pairs.add(`${reported} ${answer}`);
    for (const group of ["all", `agent ${agentId}`, `prompt ${promptKey}`, `${agentId} ${promptKey}`]) {
      const sum = (running.get(group) ?? 0) + output;
      running.set(group, sum);
      sums.add(sum);
    }
  }
  return ({ input, output }) => pairs.has(`${input} ${output}`) || (output > 0 && sums.has(output));
}
