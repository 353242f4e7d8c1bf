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

// --- internal ---

const DARK = matchMedia("(prefers-color-scheme: dark)");
