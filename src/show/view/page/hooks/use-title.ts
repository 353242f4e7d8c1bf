import { useEffect } from "preact/hooks";

/** Sets the title of the browser's tab. */
export const useTitle = (title: string): void =>
  useEffect(() => {
    document.title = `${title} · openhook-otel`;
  }, [title]);
