/**
 * Whether a background task, a teammate, another session or an agent sent a prompt. In older versions and in hooks, only the
 * text shows this.
 */
export const isMachinePrompt = (prompt: string | undefined): boolean => SENDER_MARKUP.test(prompt ?? "");

// --- internal ---

const SENDER_MARKUP =
  /^(?:<(?:task-notification|teammate-message|agent-message|cross-session-message)[\s>]|Another Claude session sent a message(?: while you were working)?:\n)/;
