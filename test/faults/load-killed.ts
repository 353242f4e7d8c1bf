// Hooks that are killed while they write.
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { allAgents } from "#agents/registry.ts";
import { loadConfig } from "#config/load.ts";
import { drain } from "#pipeline.ts";
import { readStore } from "#store/read-only.ts";
import { type Machine, ROOT } from "../support/program.ts";

/** The two hooks. */
export const HOOKS = {
  "hook.sh": ["/bin/sh", join(ROOT, "dist", "hook.sh"), "claude-code", "PostToolUse"],
  "hook of node": [process.execPath, join(ROOT, "dist", "hook.cjs"), "claude-code", "PostToolUse", "--drain", "no"],
} as const;

export interface Killed {
  readonly runs: number;
  /** Hooks that were not killed in time: they exited with 0. */
  readonly returned: readonly string[];
  readonly stored: readonly string[];
  /** Quarantined, with a reason. */
  readonly quarantined: number;
  /** Output of any of them. */
  readonly printed: string;
  /** Files that a later drain did not claim. */
  readonly left: number;
}

/** Runs a hook many times and kills it at a random moment: only its shell, or all its processes. Then one drain. */
export async function killAtRandom(machine: Machine, hook: keyof typeof HOOKS, runs: number): Promise<Killed> {
  const command = HOOKS[hook];
  // Measure how long it takes on this machine under load: the first ones are not killed. The median, because one that was delayed
  // would have all others killed too late
  const measuredMs: number[] = [];
  let doneMs = 1_000;
  const returned: string[] = [];
  let printed = "";
  const one = async (n: number, isKilled = true): Promise<void> => {
    const startMs = performance.now();
    const id = `toolu_${String(n).padStart(6, "0")}`;
    const filler = "x".repeat(n % 3 === 0 ? 400_000 : 2_000);
    const payload = JSON.stringify({
      session_id: "5057bb64-1799-4fc0-9b78-503e28f3087e",
      hook_event_name: "PostToolUse",
      tool_name: "Read",
      tool_use_id: id,
      tool_input: { file_path: "/nowhere", filler },
      cwd: machine.home,
    });
    const [file, ...args] = command;
    const child = spawn(file, args, { env: machine.env, cwd: machine.home, detached: true });
    child.stdout.on("data", (data) => (printed += data));
    child.stderr.on("data", (data) => (printed += data));
    child.stdin.on("error", () => {});
    // Half of the payload comes late, so that there is time for a kill
    const half = Math.floor(payload.length / 2);
    child.stdin.write(payload.slice(0, half));
    const lateMs = n % 2 === 0 || !isKilled ? 0 : (doneMs / 2) * Math.random();
    const feed = setTimeout(() => child.stdin.end(payload.slice(half)), lateMs);
    const kill = setTimeout(
      () => {
        if (child.pid === undefined) return;
        try {
          process.kill(n % 4 < 2 ? child.pid : -child.pid, "SIGKILL");
        } catch {
          // It has exited already
        }
      },
      isKilled ? doneMs * (0.2 + 1.3 * Math.random()) : 60_000,
    );
    const code = await new Promise((done) => child.on("exit", done));
    clearTimeout(kill);
    if (!isKilled) measuredMs.push(performance.now() - startMs);
    if (code === 0) returned.push(id);
    else {
      clearTimeout(feed);
      child.stdin.destroy();
    }
  };
  const LANES = 4;
  for (let n = 0; n < LANES; n++) await one(n, false);
  doneMs = measuredMs.sort((a, b) => a - b)[Math.floor((LANES - 1) / 2)] ?? doneMs;
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      for (let n = LANES + lane; n < runs; n += LANES) await one(n);
    }),
  );
  // Processes that outlived their shell have read to the end by then
  await machine.quiet();
  await drain({
    places: machine.places,
    loaded: await loadConfig({ env: {}, places: machine.places }),
    agents: await allAgents(),
    version: "0.0.0-test",
    platform: process.platform,
    arch: process.arch,
    now: () => Date.now() + 11 * 60_000,
    sleep: async () => {},
    log: () => {},
  });
  const stored = readStore(machine.places.storePath, (db) =>
    db
      .prepare("SELECT json_extract(body, '$.data.tool_call_id') AS id FROM events WHERE type = 'tool.end' ORDER BY 1")
      .all()
      .map((row) => String(row["id"])),
  );
  const filesIn = (dir: string): readonly string[] => readdirSync(dir).filter((name) => name.endsWith(".evt"));
  const { inboxDir, claimedDir, quarantineDir } = machine.places;
  return {
    runs,
    returned: returned.sort(),
    stored: stored ?? [],
    quarantined: filesIn(quarantineDir).length,
    printed,
    left: filesIn(inboxDir).length + filesIn(claimedDir).length,
  };
}
