import { useEffect, useState } from "preact/hooks";

/** The time, kept up to date while something runs. */
export function useNow(isRunning: boolean, everyMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    if (!isRunning) return;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [isRunning, everyMs]);
  return nowMs;
}
