/** A clock that only waiting moves on. */
export function clockAt(startMs: number) {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    sleep: async (ms: number) => {
      nowMs += ms;
    },
  };
}
