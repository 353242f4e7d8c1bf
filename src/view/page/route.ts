/** The current view and its parameters, from the part of the address after `#`. */
export interface Route {
  readonly view: (typeof VIEWS)[number];
  readonly params: Readonly<Record<string, string>>;
}

export function readRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const params = Object.fromEntries(new URLSearchParams(query));
  const view = VIEWS.find((one) => one === path) ?? "home";
  return view === "session" && (params["source"] === undefined || params["id"] === undefined)
    ? { view: "sessions", params: {} }
    : { view, params };
}

/** @param params undefined and empty ones are omitted */
export function hrefOf(view: Route["view"], params: Readonly<Record<string, string | undefined>> = {}): string {
  const query = new URLSearchParams(
    Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== ""),
  ).toString();
  return `#/${view}${query === "" ? "" : `?${query}`}`;
}

/**
 * Changes parameters of the current view. Reads the current address, because the rendered one may be older and would undo another change.
 */
export function change(params: Readonly<Record<string, string | undefined>>): void {
  const now = readRoute(location.hash);
  location.replace(hrefOf(now.view, { ...now.params, ...params }));
}

// --- internal ---

const VIEWS = ["home", "sessions", "session", "changes", "usage", "tools"] as const;
