/** How much of what agents report is kept, least first. */
export const CAPTURE_LEVELS = ["none", "metadata", "redacted", "full"] as const;

export type CaptureLevel = (typeof CAPTURE_LEVELS)[number];

// One function per question about a level; no other file compares levels with text
