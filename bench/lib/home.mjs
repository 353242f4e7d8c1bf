import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Variables that redirect the program or slow node down. */
const DROPPED = /^(?:XDG_|OPENHOOK_|OTEL_|CLAUDE|CODEX_|NODE_)/;

/** A temporary home, and the user's environment pointing to it. `remove` retries while a process still writes there. */
export function makeHome(more = {}) {
  const home = mkdtempSync(join(tmpdir(), "openhook-bench-"));
  const stateDir = join(home, "state");
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !DROPPED.test(name)));
  return {
    home,
    env: { ...inherited, HOME: home, OPENHOOK_OTEL_HOME: stateDir, ...more },
    stateDir,
    remove: () => rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }),
  };
}
