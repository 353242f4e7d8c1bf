import { CAPTURE_LEVELS, type CaptureLevel } from "../model/capture.ts";

/** Whether a level is at least as open as another. */
export const isAtLeast = (level: CaptureLevel, other: CaptureLevel): boolean =>
  CAPTURE_LEVELS.indexOf(level) >= CAPTURE_LEVELS.indexOf(other);

/** The stricter of two levels. */
export const stricter = (a: CaptureLevel, b: CaptureLevel): CaptureLevel => (isAtLeast(a, b) ? b : a);

/** Whether names are kept: of folders, repositories, branches, tools and subagents that are not the agent's own. */
export const keepsNames = (level: CaptureLevel): boolean => isAtLeast(level, "metadata");

/** Whether prompts, arguments, results and answers are kept at all. */
export const keepsContent = (level: CaptureLevel): boolean => isAtLeast(level, "redacted");

/** Whether content is kept unchanged; at all other levels secrets are redacted from it. */
export const keepsContentUnredacted = (level: CaptureLevel): boolean => isAtLeast(level, "full");
