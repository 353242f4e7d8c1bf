import type { ChangeDimension, Dimension, TimeUnit } from "../../report/dimensions.ts";

// What requests of the page can ask for

export type { ChangeDimension, TimeUnit };

export const SORTS = ["recent", "started", "tokens", "cost", "errors"] as const;
export type Sort = (typeof SORTS)[number];

export const CHANGE_SORTS = ["cost", "recent"] as const;
export type ChangeSort = (typeof CHANGE_SORTS)[number];

/** What the usage view splits figures by. */
export const SPLITS = ["agent", "model", "repository"] as const satisfies readonly Dimension[];
export type Split = (typeof SPLITS)[number];
