import { useEffect, useState } from "preact/hooks";
import { type Route, readRoute } from "../route.ts";

/** The address, also after it has changed. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  useEffect(() => {
    const onHashChange = (): void => setRoute(readRoute(location.hash));
    addEventListener("hashchange", onHashChange);
    // The address may have changed since the first rendering
    onHashChange();
    return () => removeEventListener("hashchange", onHashChange);
  }, []);
  return route;
}
