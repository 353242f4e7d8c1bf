import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Agent } from "#core/model/agent.ts";
import type { Machine } from "./machine.ts";

/** Keeps what an agent sent and wrote in one scenario, for `npm run drift`. */
export interface Recorder {
  /** Copies the queued payloads, then drains them. */
  keepPayloads(machine: Machine): Promise<void>;
  /** Copies the agent's session files, and notes the events for which we are registered. */
  keepFiles(machine: Machine, agent: Agent | undefined): Promise<void>;
}

/** Variables of a recorded agent: its hooks start no drain, so that payloads stay queued. */
export const RECORDED_RUN = { OPENHOOK_OTEL_DRAIN: "off" };

/** JSON, beside the inbox. */
export const REGISTERED_FILE = "registered.json";

/** @param folder `OPENHOOK_LIVE_RECORD`; absent: nothing is recorded */
export function recorderIn(folder: string | undefined, source: string, scenario: string): Recorder | undefined {
  if (folder === undefined) return undefined;
  const to = join(folder, source, scenario);
  let payloads = 0;
  return {
    async keepPayloads(machine) {
      const { inboxDir } = machine.places;
      mkdirSync(join(to, "inbox"), { recursive: true });
      for (const name of existsSync(inboxDir) ? readdirSync(inboxDir).sort() : []) {
        if (name.endsWith(".evt")) copyFileSync(join(inboxDir, name), join(to, "inbox", `${++payloads}-${name}`));
      }
      await machine.openhook("drain");
    },
    async keepFiles(machine, agent) {
      writeFileSync(join(to, REGISTERED_FILE), JSON.stringify(await registeredEvents(machine, agent)));
      const reader = (await agent?.transcript?.())?.default;
      for (const root of reader?.roots(machine.home, {}) ?? []) {
        // Some are files; some are kept in the project
        const path = relative(machine.home, root);
        if (existsSync(root) && !path.startsWith("..")) {
          cpSync(root, join(to, "home", path), { recursive: true, dereference: false });
        }
      }
    },
  };
}

// --- internal ---

async function registeredEvents({ home, project }: Machine, agent: Agent | undefined): Promise<readonly string[]> {
  const installer = (await agent?.installer?.())?.default;
  const paths = (await installer?.paths("user", { home, project, env: {} })) ?? [];
  const files = paths.map((path) => ({ path, text: existsSync(path) ? readFileSync(path, "utf8") : undefined }));
  return installer?.registered(files) ?? [];
}
