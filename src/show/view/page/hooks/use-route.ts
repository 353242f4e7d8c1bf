import { useEffect, useState } from "preact/hooks";
import { type Route, readRoute } from "../route.ts";

/** Follows a link to a view. If the user came from that view, goes back instead, so that the view is as it was. */
export function backTo(view: Route["view"], event: MouseEvent): void {
  if (history.state?.from !== view || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.back();
}

/** The address, also after it has changed. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  useEffect(() => {
    const onHashChange = (event?: HashChangeEvent): void => {
      // Each entry of the history keeps the view that the user came from; a new one has no state
      if (event !== undefined && history.state === null)
        history.replaceState({ from: readRoute(new URL(event.oldURL).hash).view }, "");
      setRoute(readRoute(location.hash));
    };
    addEventListener("hashchange", onHashChange);
    // The address may have changed since the first rendering
    onHashChange();
    return () => removeEventListener("hashchange", onHashChange);
  }, []);
  return route;
}
