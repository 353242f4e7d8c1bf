import { randomBytes } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { byReason, type QuarantinedPayload, quarantinedIn } from "#check/health/facts/inbox.ts";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { plural } from "#kit/text/figures.ts";
import { printable } from "#kit/text/terminal.ts";
import { drain } from "./drain.ts";

interface ReplayOptions {
  /** Print what would be retried, move nothing. */
  readonly dryRun: boolean;
}

/**
 * `openhook-otel replay`: moves quarantined payloads back to the inbox, with their event times, and drains them. Payloads
 * that no agent recognises return to quarantine.
 *
 * @returns exit code: 0; 1 when the drain failed (the payloads then stay in the inbox)
 * @throws UserError when a file cannot be moved
 */
export async function replay({ dryRun }: ReplayOptions, context: Context): Promise<number> {
  const { places, stdout } = context;
  const all = await quarantinedIn(places.quarantineDir);
  const strange = all.filter((one) => !isPayload(one)).length;
  const payloads = all.filter(isPayload);
  if (strange > 0) {
    stdout.write(`${plural(strange, "file")} that no hook wrote ${strange === 1 ? "stays" : "stay"} in quarantine\n`);
  }
  if (payloads.length === 0) {
    stdout.write("No payload is quarantined.\n");
    return 0;
  }
  if (dryRun) {
    printLines(context, inWords(payloads));
    stdout.write(`Dry run: ${plural(payloads.length, "payload")} would be retried.\n`);
    return 0;
  }
  const run = randomBytes(4).toString("hex");
  const moved = await putBack(payloads, run, context);
  stdout.write(`${plural(moved, "payload")} moved back to the inbox\n`);
  const code = await drain({ endIdle: false, quiet: false, json: false }, context);
  if (code !== 0) return code;
  const returned = (await quarantinedIn(places.quarantineDir)).filter(({ name }) => name.includes(`-${run}-`));
  if (returned.length > 0) {
    stdout.write(`${plural(returned.length, "payload")} returned to quarantine:\n`);
    printLines(context, inWords(returned));
  }
  return 0;
}

// --- internal ---

/** Other files come from elsewhere: the inbox quarantines every file it does not know. */
const isPayload = ({ name, isFile }: QuarantinedPayload): boolean => isFile && name.endsWith(".evt");

const inWords = (payloads: readonly QuarantinedPayload[]): readonly string[] =>
  [...byReason(payloads)].map(([reason, n]) => `${n} × ${printable(reason)}`);

/** Characters kept of a file's name, so that names do not grow with each replay. */
const NAME_CHARACTERS = 100;

/**
 * A rename keeps the file's time, which is the event's. The run and a number make the name unique; they are at the front,
 * because the drain may cut names at the end.
 */
async function putBack(payloads: readonly QuarantinedPayload[], run: string, { places }: Context): Promise<number> {
  await mkdir(places.inboxDir, { recursive: true, mode: 0o700 });
  let moved = 0;
  for (const { name } of payloads) {
    const from = join(places.quarantineDir, name);
    const to = join(places.inboxDir, `r-${run}-${moved}-${name.replace(/\.evt$/, "").slice(0, NAME_CHARACTERS)}.evt`);
    try {
      await rename(from, to);
    } catch (error) {
      // Another replay has moved it already
      if (error instanceof Error && "code" in error && error.code === "ENOENT") continue;
      const reason = error instanceof Error ? error.message : String(error);
      throw new UserError("E_STATE", `cannot move ${JSON.stringify(from)} back to the inbox: ${reason}`, 1, {
        cause: error,
      });
    }
    moved++;
    await rm(`${from}.reason`, { force: true }).catch(() => {});
  }
  return moved;
}
