import { basename } from "node:path";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { terminalOf } from "#kit/text/terminal.ts";
import { type Digest, type DigestUnit, digestJson } from "#show/report/digest/digest.ts";
import { localDigest } from "#show/report/digest/local.ts";
import { digestLines, digestMarkdown } from "#show/report/digest/text.ts";
import { sessionCounts } from "#store/queries.ts";
import { withOpenStore } from "#store/sessions/open-store.ts";
import { noStoreMessage } from "./no-store-message.ts";
import { type RefreshOption, refreshed } from "./refreshed.ts";
import { subscribed } from "./subscribed.ts";

interface DigestOptions extends RefreshOption {
  readonly markdown: boolean;
  readonly json: boolean;
}

/**
 * `openhook-otel digest`: the last whole week or month of this machine, to forward.
 *
 * @returns exit code: 0, also when nothing was done in that time
 * @throws UserError for wrong input, and when the store cannot be read
 */
export async function digest(unit: DigestUnit, options: DigestOptions, context: Context): Promise<number> {
  if (options.json && options.markdown) throw new UserError("E_USAGE", "choose one of --json and --markdown");
  const found = await digestHere(unit, options, context);
  if (typeof found === "string") context.stdout.write(options.json ? "null\n" : `${found}\n`);
  else if (options.json) context.stdout.write(`${JSON.stringify(digestJson(found))}\n`);
  else if (options.markdown) context.stdout.write(digestMarkdown(found));
  else printLines(context, digestLines(found, terminalOf(context)));
  return 0;
}

// --- internal ---

/** @returns why there is none, if there is no session yet */
async function digestHere(unit: DigestUnit, options: DigestOptions, context: Context): Promise<Digest | string> {
  const { behind, agents } = await refreshed(options, context);
  const subscriptions = await subscribed(context, agents);
  const { USER = "", USERNAME = "" } = context.env;
  const ownNames = new Set([basename(context.places.home), USER, USERNAME]);
  const found = withOpenStore(context, (db) =>
    sessionCounts(db).sessions === 0
      ? undefined
      : localDigest(db, agents, { unit, nowMs: context.now(), ownNames, subscriptions }),
  );
  return found ?? noStoreMessage(context, behind);
}
