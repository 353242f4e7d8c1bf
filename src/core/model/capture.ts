/** How much of what agents report is kept, least first. */
export const CAPTURE_LEVELS = ["none", "metadata", "redacted", "full"] as const;
export type CaptureLevel = (typeof CAPTURE_LEVELS)[number];

/** Whether a level is at least as open as another. */
export const isAtLeast = (level: CaptureLevel, other: CaptureLevel): boolean =>
  CAPTURE_LEVELS.indexOf(level) >= CAPTURE_LEVELS.indexOf(other);

/** The stricter of two levels. */
export const stricter = (a: CaptureLevel, b: CaptureLevel): CaptureLevel => (isAtLeast(a, b) ? b : a);

// One function per question about a level; no other file compares levels with text

/** Whether names are kept: of folders, repositories, branches, tools and subagents that are not the agent's own. */
export const keepsNames = (level: CaptureLevel): boolean => isAtLeast(level, "metadata");

/** Whether prompts, arguments, results and answers are kept at all. */
export const keepsContent = (level: CaptureLevel): boolean => isAtLeast(level, "redacted");

/** Whether content is kept unchanged; at all other levels secrets are redacted from it. */
export const keepsContentUnredacted = (level: CaptureLevel): boolean => isAtLeast(level, "full");
