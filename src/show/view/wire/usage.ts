import type { Dimension, TimeUnit } from "../../report/dimensions.ts";
import type { Choices, UsageFigures } from "./figures.ts";

export type { TimeUnit };

/** What the usage view splits figures by. */
export const SPLITS = ["agent", "model", "repository"] as const satisfies readonly Dimension[];
export type Split = (typeof SPLITS)[number];

export interface UsageDocument {
  readonly kind: "usage";
  readonly unit: TimeUnit;
  readonly split: Split;
  readonly sinceMs: number;
  /** Names of all buckets in order, also of empty ones: `2026-11-21T07:00+01:00`, `2026-11-21`, `2026-W47`, `2026-11`. */
  readonly buckets: readonly string[];
  /** `null`: an empty bucket. */
  readonly bucketFigures: readonly (UsageFigures | null)[];
  readonly total: UsageFigures | null;
  /** Why calls have no exact price and what to do, in sentences. */
  readonly noPrice: readonly string[];
  readonly groups: readonly UsageGroup[];
  readonly choices: Choices;
}

export interface UsageGroup {
  /** `null`: unknown. */
  readonly name: string | null;
  readonly figures: UsageFigures;
  /** One value per bucket; 0 if there was no usage or none was reported. */
  readonly costNanoUsd: readonly number[];
  readonly tokens: readonly number[];
}
