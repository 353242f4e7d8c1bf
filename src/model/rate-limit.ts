/** The windows in which providers limit usage, and their names on a screen. */
export const RATE_WINDOWS = { five_hour: "5h", seven_day: "7d" } as const;
export type RateWindow = keyof typeof RATE_WINDOWS;

/** How much of a limit an agent last reported as used. After the reset, it is unknown. */
export interface RateLimit {
  readonly window: RateWindow;
  readonly percent: number;
  readonly resetsAtMs: number;
}
