/** A made-up session of Claude Code; see the implementation. */
export function writeLongSession(
  home: string,
  options: {
    /** About how many. */
    readonly spans: number;
    readonly sessionId?: string;
    readonly cwd?: string;
    readonly startMs?: number;
    readonly stepMs?: number;
    readonly seed?: number;
    readonly branch?: string;
    readonly prompt?: string;
    /** Prompts after the first, in turn. */
    readonly more?: readonly string[];
    /** Commands that are run at the end, with what they print. */
    readonly commands?: readonly { readonly command: string; readonly output: (timeMs: number) => string }[];
  },
): { readonly sessionId: string; readonly hook: string; readonly transcript: string; readonly endMs: number };
