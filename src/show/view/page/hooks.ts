import { useEffect, useState } from "preact/hooks";

/** The user's colour scheme: a canvas must be drawn again when it changes. */
export function useColourScheme(): "light" | "dark" {
  const [isDark, setDark] = useState(DARK.matches);
  useEffect(() => {
    const onChange = (): void => setDark(DARK.matches);
    DARK.addEventListener("change", onChange);
    return () => DARK.removeEventListener("change", onChange);
  }, []);
  return isDark ? "dark" : "light";
}

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

/** Sets the title of the browser's tab. */
export const useTitle = (title: string): void =>
  useEffect(() => {
    document.title = `${title} · openhook-otel`;
  }, [title]);

/** What an entry of the browser's history keeps of a list. */
interface Place {
  /** Pixels above the visible part. */
  readonly scrolled: number;
  /** Rows that were shown. */
  readonly rows: number;
}

/** The place that the current entry keeps; `undefined` for a new entry, e.g. after a click on a link. */
export function keptPlace(): Place | undefined {
  const state: unknown = history.state;
  return typeof state === "object" && state !== null && "scrolled" in state ? (state as Place) : undefined;
}

/**
 * Keeps the place of a list in the browser's history: a user who goes back to it sees the same rows. The browser alone restores the place too early,
 * before the rows are loaded.
 *
 * @param rows number of rows in the list; 0: not loaded yet
 */
export function useKeptPlace(rows: number): void {
  const [kept] = useState(keptPlace);
  const isLoaded = rows > 0;
  useEffect(() => {
    if (isLoaded && kept !== undefined) scrollTo(0, kept.scrolled);
  }, [isLoaded]);
  useEffect(() => {
    if (!isLoaded) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const keep = (): void => history.replaceState({ ...history.state, scrolled: scrollY, rows } satisfies Place, "");
    const keepSoon = (): void => {
      clearTimeout(timer);
      timer = setTimeout(keep, SCROLL_PAUSE_MS);
    };
    // Before a click on a link makes another entry the current one
    addEventListener("click", keep, true);
    addEventListener("scroll", keepSoon, { passive: true });
    return () => {
      clearTimeout(timer);
      removeEventListener("click", keep, true);
      removeEventListener("scroll", keepSoon);
    };
  }, [isLoaded, rows]);
}

// --- internal ---

const DARK = matchMedia("(prefers-color-scheme: dark)");

/** Browsers limit how often an entry may be changed. */
const SCROLL_PAUSE_MS = 100;
