import { basename } from "node:path";
import { Backend } from "#check/reconcile/backend.ts";
import { teamDigest } from "#check/team-digest.ts";
import type { Context } from "#config/context.ts";
import { loadConfig } from "#config/load.ts";
import { UserError } from "#kit/errors.ts";
import { suggest } from "#kit/suggest.ts";
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
  /** Address of the team's Prometheus; `true`: that of the settings. Absent: this machine. */
  readonly from?: string | true;
}

/**
 * `openhook-otel digest`: the last whole week or month of this machine, or of a team, to forward.
 *
 * @returns exit code: 0, also when nothing was done in that time
 * @throws UserError for wrong input, when the store cannot be read, and (2) when Prometheus does not respond
 */
export async function digest(unit: DigestUnit, options: DigestOptions, context: Context): Promise<number> {
  if (options.json && options.markdown) throw new UserError("E_USAGE", "choose one of --json and --markdown");
  const { from } = options;
  const found = await (from === undefined ? digestHere(unit, options, context) : digestFrom(from, unit, context));
  if (typeof found === "string") context.stdout.write(options.json ? "null\n" : `${found}\n`);
  else if (options.json) context.stdout.write(`${JSON.stringify(digestJson(found))}\n`);
  else if (options.markdown) context.stdout.write(digestMarkdown(found));
  else printLines(context, digestLines(found, terminalOf(context)));
  return 0;
}

// --- internal ---

async function digestFrom(from: string | true, unit: DigestUnit, context: Context): Promise<Digest> {
  const { config } = await loadConfig(context, from === true ? {} : { "reconcile.prometheus": from });
  const url = from === true ? config.reconcile.prometheus : from;
  if (url === undefined) {
    const set = suggest("config set reconcile.prometheus http://127.0.0.1:9090");
    throw new UserError("E_USAGE", `--from takes the address of Prometheus, which can also be set once: ${set}`);
  }
  return teamDigest(new Backend("prometheus", url, context.env, "--from"), unit, context.now());
}

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
