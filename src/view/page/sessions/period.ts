export const PERIODS = [
  { value: "", text: "Any time" },
  { value: "today", text: "Today" },
  { value: "7", text: "Last 7 days" },
  { value: "30", text: "Last 30 days" },
  { value: "90", text: "Last 90 days" },
  { value: "between", text: "Between …" },
] as const;

interface Chosen {
  readonly period?: string | undefined;
  /** `2026-11-21`; both days are included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The chosen period in the user's time zone, as the server's parameters. */
export function boundsOf({ period, from, to }: Chosen): { readonly fromMs?: string; readonly toMs?: string } {
  if (period === "between") {
    const [first, last] = [dayOf(from, 0), dayOf(to, 1)];
    return {
      ...(first !== undefined && { fromMs: String(first) }),
      ...(last !== undefined && { toMs: String(last) }),
    };
  }
  const days = period === "today" ? 1 : Number(period ?? "");
  return days > 0 ? { fromMs: String(startOfDay(days - 1)) } : {};
}

/** Start of the day that many days ago. */
export function startOfDay(daysAgo: number): number {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).getTime();
}

/** Start of the day that is `daysLater` days after a day, in the user's time zone; `undefined` if the text is no day. */
export function dayOf(text: string | undefined, daysLater: number): number | undefined {
  const [year, month, day] = (text ?? "").split("-").map(Number);
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const ms = new Date(year, month - 1, day + daysLater).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}
