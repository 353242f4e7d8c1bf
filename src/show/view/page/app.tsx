import type { ExportedPage } from "../wire/documents.ts";
import { Changes } from "./changes/changes.tsx";
import { EXPORTED } from "./data/exported.ts";
import { useConnection } from "./data/live.ts";
import { Home } from "./home/home.tsx";
import { Insights } from "./insights/insights.tsx";
import { useSearchKeys } from "./parts/fields.tsx";
import { hrefOf, type Route, useRoute } from "./route.ts";
import { SessionView } from "./session/session-view.tsx";
import { Sessions } from "./sessions/sessions.tsx";
import { dateTimeExact } from "./text/format.ts";
import { Tools } from "./tools/tools.tsx";
import { Usage } from "./usage/usage.tsx";

export function App() {
  return EXPORTED === undefined ? <Views /> : <Exported page={EXPORTED} />;
}

// --- internal ---

/** One session without a server. */
function Exported({ page }: { page: ExportedPage }) {
  const route = useRoute();
  const { source, session_id } = page.session.row;
  return (
    <>
      <header class="top">
        <span class="brand">openhook-otel</span>
        <span class="exported">
          Exported {dateTimeExact(page.exportedMs)}, capture level {page.level}
        </span>
      </header>
      <main id="main" tabIndex={-1}>
        <SessionView source={source} id={session_id} span={route.params["span"]} />
      </main>
    </>
  );
}

function Views() {
  const route = useRoute();
  useSearchKeys();
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

/** The views that the navigation offers, in its order. */
const TABS = [
  { to: "home", title: "Home" },
  { to: "sessions", title: "Sessions" },
  { to: "changes", title: "Changes" },
  { to: "usage", title: "Usage" },
  { to: "tools", title: "Tools" },
  { to: "insights", title: "Insights" },
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
    case "changes":
      return <Changes params={params} />;
    case "usage":
      return <Usage params={params} />;
    case "tools":
      return <Tools params={params} />;
    case "insights":
      return <Insights params={params} />;
  }
}

/** Whether the page is up to date. */
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
