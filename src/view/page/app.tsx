import { useEffect, useState } from "preact/hooks";
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
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <a class="brand" href={hrefOf("sessions")}>
          openhook-otel
        </a>
        <nav aria-label="Views">
          <Tab to="sessions" now={route.view === "session" ? "sessions" : route.view} title="Sessions" />
          <Tab to="usage" now={route.view} title="Usage" />
          <Tab to="tools" now={route.view} title="Tools" />
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

function View({ view, params }: Route) {
  switch (view) {
    case "sessions":
      return <Sessions params={params} />;
    case "session":
      return (
        <SessionView
          key={JSON.stringify([params["source"], params["id"]])}
          source={params["source"] ?? ""}
          id={params["id"] ?? ""}
        />
      );
    case "usage":
      return <Usage params={params} />;
    case "tools":
      return <Tools params={params} />;
  }
}

function Tab({ to, now, title }: { to: Route["view"]; now: Route["view"]; title: string }) {
  return (
    <a href={hrefOf(to)} aria-current={to === now ? "page" : undefined}>
      {title}
    </a>
  );
}

function ConnectionStatus() {
  const connection = useConnection();
  const text = connection === "live" ? "Live" : connection === "lost" ? "Not connected" : "Connecting";
  return (
    <span class={`live ${connection}`} role="status" title={TITLES[connection]}>
      {text}
    </span>
  );
}

const TITLES = {
  live: "The page updates automatically",
  lost: "The server has stopped or does not respond",
  connecting: "Connecting to the server",
} as const;
