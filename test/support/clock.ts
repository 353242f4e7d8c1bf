/** A clock that only `sleep` advances. */
export function clockAt(startMs: number) {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    sleep: async (ms: number) => {
      nowMs += ms;
    },
  };
}
