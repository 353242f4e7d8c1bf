/**
 * Whether a background task, a teammate, another session or an agent sent a prompt. In older versions and in hooks only the text
 * shows it.
 */
export const isOfMachine = (prompt: string | undefined): boolean => SENT.test(prompt ?? "");

// --- internal ---

const SENT =
  /^(?:<(?:task-notification|teammate-message|agent-message|cross-session-message)[\s>]|Another Claude session sent a message(?: while you were working)?:\n)/;
