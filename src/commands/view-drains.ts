import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { DrainLog } from "#collect/drain/log.ts";
import type { Context } from "#config/context.ts";
import type { Places } from "#config/places.ts";
import { messageOf } from "#kit/errors.ts";
import { readStore } from "#store/read-only.ts";
import { idleSessions } from "#store/sessions.ts";
import { type DrainOptions, drain } from "../pipeline.ts";
import { drainDeps } from "./drain-deps.ts";

/**
 * A drain for an open page or an agent that asks, in this process, if there is anything that it could find. Problems go to the log of
 * drains, as for those that hooks start.
 */
export async function drainForPage(context: Context, options: DrainOptions = {}): Promise<void> {
  // Without the folder nothing was ever collected, and looking at nothing must not create it
  if (!existsSync(context.places.stateDir)) return;
  const log = new DrainLog(context);
  try {
    // Each drain writes to the store, and the page then loads everything again
    if (!(await hasQueuedEvents(context.places)) && !hasOpenSessions(context.places)) return;
    await drain(await drainDeps(context, log.line), options);
  } catch (error) {
    log.line(messageOf(error));
  }
  await log.flush().catch(() => {});
}

// --- internal ---

async function hasQueuedEvents({ inboxDir, claimedDir }: Places): Promise<boolean> {
  const names = await Promise.all([inboxDir, claimedDir].map((dir) => readdir(dir).catch(() => [])));
  return names.flat().length > 0;
}

/** Whether a session is open: its transcript may have grown, or its agent may have ended. */
const hasOpenSessions = ({ storePath }: Places): boolean =>
  readStore(storePath, (db) => idleSessions(db, Number.POSITIVE_INFINITY).length > 0) === true;
