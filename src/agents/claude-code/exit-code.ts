/** The exit code, which only the beginning of an error text has: `Exit code 2\n…`. */
export function exitCodeOf(error: unknown): number | undefined {
  const match = typeof error === "string" ? /^(?:Error: )?Exit code (\d{1,3})\b/.exec(error) : null;
  return match?.[1] === undefined ? undefined : Number(match[1]);
}
