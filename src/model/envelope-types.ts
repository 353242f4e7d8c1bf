// OpenHook v0.1 specification, read 2026-11-21

/** The specification version we write. Readers accept any `MAJOR.MINOR` on a best-effort basis. */
export const OPENHOOK_VERSION = "0.1";

/** The five event types that OpenHook v0.1 defines, in the order of a session's life. */
export const ENVELOPE_TYPES = ["session.start", "prompt.submit", "tool.start", "tool.end", "session.end"] as const;
