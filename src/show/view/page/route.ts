import { useEffect, useState } from "preact/hooks";

/** The current view and its parameters, from the part of the address after `#`. */
export interface Route {
  readonly view: (typeof VIEWS)[number];
  readonly params: ViewParams;
}

/** The parameters of a view, by name. */
export type ViewParams = Readonly<Record<string, string>>;

/** Parameters of an address; undefined and empty ones are omitted. */
export type Params = Readonly<Record<string, string | undefined>>;

export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const params = Object.fromEntries(new URLSearchParams(query));
  const view = VIEWS.find((one) => one === path) ?? "home";
  return view === "session" && (params["source"] === undefined || params["id"] === undefined)
    ? { view: "sessions", params: {} }
    : { view, params };
}

export function hrefOf(view: Route["view"], params: Params = {}): string {
  const query = queryOf(params);
  return `#/${view}${query === "" ? "" : `?${query}`}`;
}

export const queryOf = (params: Params): string =>
  new URLSearchParams(
    Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== ""),
  ).toString();

/**
 * Changes parameters of the current view. Reads the current address, because the rendered one may be older and would undo another change.
 */
export function changeParams(params: Params): void {
  const now = readRoute(location.hash);
  location.replace(hrefOf(now.view, { ...now.params, ...params }));
}

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

// --- internal ---

const VIEWS = ["home", "sessions", "session", "changes", "usage", "tools", "insights"] as const;
