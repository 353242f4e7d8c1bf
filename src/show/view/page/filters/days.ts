/** Start of the day that many days ago, in the user's time zone. */
export function startOfDay(daysAgo: number): number {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).getTime();
}

/** Two days as an address has them, `2026-11-21`; both are included. */
export interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The time from the start of the first to the end of the last day, in the user's time zone; absent: none is chosen, or the text is no day. */
export function timeOf({ from, to }: Days): { readonly startMs?: number; readonly endMs?: number } {
  const [startMs, endMs] = [startOf(from, 0), startOf(to, 1)];
  return { ...(startMs !== undefined && { startMs }), ...(endMs !== undefined && { endMs }) };
}

// --- internal ---

/** Start of the day that is `daysLater` days after a day. By the calendar, because days with a change of the clock are longer or shorter. */
function startOf(day: string | undefined, daysLater: number): number | undefined {
  const [year, month, date] = (day ?? "").split("-").map(Number);
  if (year === undefined || month === undefined || date === undefined) return undefined;
  const ms = new Date(year, month - 1, date + daysLater).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}
