import { useEffect, useState } from "preact/hooks";
import { Home } from "./home/home.tsx";
import { useConnection } from "./live.ts";
import { hrefOf, type Route, readRoute } from "./route.ts";
import { SessionView } from "./session/session-view.tsx";
import { Sessions } from "./sessions/sessions.tsx";
import { Tools } from "./tools/tools.tsx";
import { Usage } from "./usage/usage.tsx";

export function App() {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  useEffect(() => {
    const onHashChange = (): void => setRoute(readRoute(location.hash));
    addEventListener("hashchange", onHashChange);
    // The address may have changed since the first rendering
    onHashChange();
    return () => removeEventListener("hashchange", onHashChange);
  }, []);
  const shown = route.view === "session" ? "sessions" : route.view;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <a class="brand" href={hrefOf("home")}>
          openhook-otel
        </a>
        <nav aria-label="Views">
          {TABS.map(({ to, title }) => (
            <a key={to} href={hrefOf(to)} aria-current={to === shown ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <ConnectionStatus />
      </header>
      <main id="main" tabIndex={-1}>
        <View {...route} />
      </main>
    </>
  );
}

// --- internal ---

/** The views that the navigation offers, in its order. */
const TABS = [
  { to: "home", title: "Home" },
  { to: "sessions", title: "Sessions" },
  { to: "usage", title: "Usage" },
  { to: "tools", title: "Tools" },
] as const satisfies readonly { readonly to: Route["view"]; readonly title: string }[];

function View({ view, params }: Route) {
  switch (view) {
    case "home":
      return <Home params={params} />;
    case "sessions":
      return <Sessions params={params} />;
    case "session":
      return (
        <SessionView
          key={JSON.stringify([params["source"], params["id"]])}
          source={params["source"] ?? ""}
          id={params["id"] ?? ""}
          span={params["span"]}
        />
      );
    case "usage":
      return <Usage params={params} />;
    case "tools":
      return <Tools params={params} />;
  }
}

function ConnectionStatus() {
  const connection = useConnection();
  return (
    <span class={`live ${connection}`} role="status" title={TITLES[connection]}>
      {TEXTS[connection]}
    </span>
  );
}

const TEXTS = { live: "Live", lost: "Not connected", connecting: "Connecting", paused: "Paused" } as const;

const TITLES = {
  live: "The page updates automatically",
  lost: "The server has stopped or does not respond",
  connecting: "Connecting to the server",
  paused: "Updates when it is visible again",
} as const;
