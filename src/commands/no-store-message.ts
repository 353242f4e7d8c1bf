import { counts } from "#collect/intake/inbox-dirs.ts";
import type { Context } from "#config/context.ts";
import type { Behind } from "#kit/behind.ts";
import { suggest } from "#kit/suggest.ts";
import { plural } from "#kit/text/figures.ts";

/**
 * One line for an empty or missing store.
 *
 * @param behind what is being imported in the background
 */
export async function noStoreMessage({ places }: Pick<Context, "places">, behind?: Behind): Promise<string> {
  if (behind !== undefined) {
    const { sessions } = behind;
    const what = sessions === undefined ? "looking for past sessions" : `importing ${plural(sessions, "session")}`;
    return `${what}; run it again in a moment`;
  }
  const { inbox, claimed } = await counts(places).catch(() => ({ inbox: 0, claimed: 0 }));
  const waiting = inbox + claimed;
  return waiting > 0
    ? `no sessions yet, but ${plural(waiting, "queued event")}: run ${suggest("drain")}`
    : `no sessions yet: run ${suggest("start")} to enable your agents and import past sessions, or ${suggest("demo")} for an example`;
}
