// OpenHook v0.1 specification, both texts, read 2026-11-26

/** The specification version we write. Readers accept any `MAJOR.MINOR` on a best-effort basis. */
export const OPENHOOK_VERSION = "0.1";

/**
 * The two texts of version 0.1: `cwd` is the first one; since 2026-02-26 `context` replaces `cwd`, and there is `file.write`. Both
 * have the same version number, so only the fields show which one an envelope follows.
 */
export const ENVELOPE_TEXTS = ["cwd", "context"] as const;
export type EnvelopeText = (typeof ENVELOPE_TEXTS)[number];

/** The types of both texts, on which the conformance levels depend, in the order of a session's life. */
export const LIFECYCLE_TYPES = ["session.start", "prompt.submit", "tool.start", "tool.end", "session.end"] as const;

/** All event types that OpenHook v0.1 defines, in the order in which they follow each other at the same time. */
export const ENVELOPE_TYPES = [
  "session.start",
  "prompt.submit",
  "tool.start",
  "tool.end",
  "file.write",
  "session.end",
] as const;
