// task_metadata.json as in github.com/cline/cline, apps/vscode/src/core/context/context-tracking, August 2026, read 2026-11-26

import type { EntryOf, TokenUsage } from "#core/model/transcript.ts";
import { sumKnown } from "#kit/numbers.ts";
import { defined } from "#kit/objects.ts";
import { readSmall } from "#kit/open.ts";
import { asArray, asCount, asObject, asString, parsedObject } from "../shared/payload/json.ts";
import type { Figures } from "./task-usage.ts";

interface Used {
  readonly timeMs: number;
  readonly provider: string | undefined;
  readonly model: string | undefined;
}

/** The models that a task used, and what it spent on each by its records. */
export class TaskModels {
  readonly #noted: readonly Used[];
  readonly #seen: Used[] = [];
  readonly #sums = new Map<string, Sum>();
  readonly agentVersion: string | undefined;

  constructor(metadata: Readonly<Record<string, unknown>> = {}) {
    this.#noted = asArray(metadata["model_usage"])
      .map((value) => asObject(value) ?? {})
      .map((use) => ({
        timeMs: asCount(use["ts"]) ?? 0,
        provider: asString(use["model_provider_id"]),
        model: asString(use["model_id"]),
      }))
      .sort((a, b) => a.timeMs - b.timeMs);
    const versions = asArray(metadata["environment_history"]).map((value) =>
      asString(asObject(value)?.["cline_version"]),
    );
    this.agentVersion = versions.findLast((version) => version !== undefined);
  }

  /** The model in use at a time; `undefined` if it was not noted. */
  at(timeMs: number): Used | undefined {
    return this.#noted.findLast((use) => use.timeMs <= timeMs);
  }

  /** Notes the model of a request. */
  seen(timeMs: number, provider: string | undefined, model: string | undefined): void {
    this.#seen.push({ timeMs, provider, model });
  }

  /** All providers in use up to a time, removed requests included if they were noted. */
  providersUntil(timeMs: number): readonly string[] {
    return [...new Set(this.#until(timeMs).flatMap(({ provider }) => provider ?? []))];
  }

  /** The model in use up to a time, if it was only one. Without notes, removed requests may have used another. */
  onlyModelUntil(timeMs: number): string | undefined {
    const models = new Set(this.#until(timeMs).map(({ model }) => model));
    const [model] = models;
    return models.size === 1 && this.#noted.length > 0 ? model : undefined;
  }

  /** Adds the figures of a record to the sums. */
  spent(model: string | undefined, figures: Figures, usage: TokenUsage | undefined): void {
    const name = model ?? "unknown";
    const sum = this.#sums.get(name);
    const cost = figures["cost"];
    const costUsd = typeof cost === "number" && cost > 0 && Number.isFinite(cost) ? cost : undefined;
    this.#sums.set(
      name,
      defined<Sum>({
        input: sumKnown([sum?.input, usage?.input]),
        output: sumKnown([sum?.output, usage?.output]),
        costUsd: sumKnown([sum?.costUsd, costUsd]),
      }),
    );
  }

  /** The sums so far; a cost of 0 is also what the extension records for models without a price. */
  reported(timeMs: number): readonly EntryOf<"reported_usage">[] {
    const byModel = Object.fromEntries([...this.#sums].filter(([, sum]) => Object.keys(sum).length > 0));
    return Object.keys(byModel).length === 0
      ? []
      : [{ kind: "reported_usage", key: "reported_usage", timeMs, byModel }];
  }

  #until(timeMs: number): readonly Used[] {
    return [...this.#noted, ...this.#seen].filter((use) => use.timeMs <= timeMs);
  }
}

/** `task_metadata.json`; earlier versions wrote none. */
export async function readModels(path: string, roots: readonly string[] | undefined): Promise<TaskModels> {
  const file = await readSmall(path, MAX_METADATA_BYTES, roots);
  return new TaskModels(file === undefined ? undefined : parsedObject(file.bytes));
}

// --- internal ---

/** It lists every file that was in the context. */
const MAX_METADATA_BYTES = 16 << 20;

type Sum = EntryOf<"reported_usage">["byModel"][string];
