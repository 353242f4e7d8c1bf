/**
 * Whether a prompt is none of the user's: a background task, a teammate, another session or an agent sent it. Older versions
 * and hooks tell that by its text alone.
 */
export const isOfMachine = (prompt: string | undefined): boolean => SENT.test(prompt ?? "");

// --- internal ---

const SENT =
  /^(?:<(?:task-notification|teammate-message|agent-message|cross-session-message)[\s>]|Another Claude session sent a message(?: while you were working)?:\n)/;
