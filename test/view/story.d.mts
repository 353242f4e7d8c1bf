/** Id of the session. */
export const STORY: string;
export const HOSTILE_TEXT: string;
export const PROMPTS: readonly string[];
export function collectStory(
  home: string,
  dist: string,
  options?: { readonly startMs?: number; readonly sessionId?: string; readonly cwd?: string },
): { readonly transcript: string; readonly cwd: string };
