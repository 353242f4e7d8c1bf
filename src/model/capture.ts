/** How much of what agents tell is kept, least first. */
export const CAPTURE_LEVELS = ["none", "metadata", "redacted", "full"] as const;
export type CaptureLevel = (typeof CAPTURE_LEVELS)[number];

/** Whether a level is at least as open as another. */
export const isAtLeast = (level: CaptureLevel, other: CaptureLevel): boolean =>
  CAPTURE_LEVELS.indexOf(level) >= CAPTURE_LEVELS.indexOf(other);

/** The stricter of two levels. */
export const stricter = (a: CaptureLevel, b: CaptureLevel): CaptureLevel => (isAtLeast(a, b) ? b : a);

/** Whether prompts, arguments, results and answers are kept at all. */
export const keepsContent = (level: CaptureLevel): boolean => isAtLeast(level, "redacted");
