import { startOfDay } from "../sessions/period.ts";

export const RANGES = [
  { value: "1", text: "Last 24 hours" },
  { value: "7", text: "Last 7 days" },
  { value: "30", text: "Last 30 days" },
  { value: "90", text: "Last 90 days" },
  { value: "365", text: "Last year" },
  { value: "all", text: "All time" },
] as const;
export type Range = (typeof RANGES)[number]["value"];

/** Start of a range in the user's time zone; `undefined`: the first session. */
export function sinceOf(range: string): number | undefined {
  if (range === "all") return undefined;
  if (range === "1") return Math.floor(Date.now() / HOUR_MS - 23) * HOUR_MS;
  return startOfDay((Number(range) || 30) - 1);
}

// --- internal ---

const HOUR_MS = 3_600_000;
