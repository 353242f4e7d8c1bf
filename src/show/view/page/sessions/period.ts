import { type Days, startOfDay, timeOf } from "../filters/days.ts";

export const PERIODS = [
  { value: "", text: "Any time" },
  { value: "today", text: "Today" },
  { value: "7", text: "Last 7 days" },
  { value: "30", text: "Last 30 days" },
  { value: "90", text: "Last 90 days" },
  { value: "between", text: "Between …" },
] as const;

interface Chosen extends Days {
  readonly period?: string | undefined;
}

/** The chosen period in the user's time zone, as the server's parameters. */
export function boundsOf({ period, ...days }: Chosen): { readonly fromMs?: string; readonly toMs?: string } {
  if (period === "between") {
    const { startMs, endMs } = timeOf(days);
    return {
      ...(startMs !== undefined && { fromMs: String(startMs) }),
      ...(endMs !== undefined && { toMs: String(endMs) }),
    };
  }
  const count = period === "today" ? 1 : Number(period ?? "");
  return count > 0 ? { fromMs: String(startOfDay(count - 1)) } : {};
}
