import { existsSync } from "node:fs";
import type { Context } from "../context.ts";
import { drainDeps } from "../drain/from-process.ts";
import { DrainLog } from "../drain/log.ts";
import { messageOf } from "../model/error-message.ts";
import { drain } from "../pipeline.ts";

/** A drain for an open page, in this process. Problems go to the log of drains, as for those that hooks start. */
export async function drainForPage(context: Context): Promise<void> {
  // Without the folder nothing was ever collected, and looking at nothing must not create it
  if (!existsSync(context.places.stateDir)) return;
  const log = new DrainLog(context);
  try {
    await drain(await drainDeps(context, log.line));
  } catch (error) {
    log.line(messageOf(error));
  }
  await log.flush().catch(() => {});
}
