import { useConnection } from "../data/live.ts";

/** Whether the page is up to date. */
export function ConnectionStatus() {
  const connection = useConnection();
  return (
    <span class={`live ${connection}`} role="status" title={TITLES[connection]}>
      {TEXTS[connection]}
    </span>
  );
}

// --- internal ---

const TEXTS = { live: "Live", lost: "Not connected", connecting: "Connecting", paused: "Paused" } as const;

const TITLES = {
  live: "The page updates automatically",
  lost: "The server has stopped or does not respond",
  connecting: "Connecting to the server",
  paused: "Updates when it is visible again",
} as const;
