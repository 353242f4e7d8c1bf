/** The two kinds of records that are sent, each with an address of its own where the user wants that. */
export const SIGNALS = ["traces", "metrics"] as const;
export type Signal = (typeof SIGNALS)[number];
