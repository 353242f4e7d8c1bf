import type { Drain } from "#collect/drain/context.ts";
import { type Preview, previewDelivery } from "#collect/drain/preview.ts";
import { previewLines } from "#collect/drain/preview-text.ts";
import type { Context } from "#config/context.ts";
import { UserError } from "#kit/errors.ts";
import { printLines } from "#kit/text/ascii.ts";
import { printable, terminalOf } from "#kit/text/terminal.ts";
import { namedSession } from "#store/sessions/find-session.ts";
import { drain as runDrain } from "../pipeline.ts";
import { drainDeps } from "./drain-deps.ts";

interface PreviewOptions {
  /** The bodies themselves, OTLP/JSON, one per line, without the summary. */
  readonly json: boolean;
}

/**
 * `openhook-otel preview`: a summary, then exactly what the next drain would send. Events in the inbox are converted first, as a drain
 * does; nothing is sent.
 *
 * @param session id, the beginning of one, or `<source>/<id>`; without it everything queued, including counters
 * @returns exit code: 0
 * @throws UserError when there is no such session, or another drain is running
 */
export async function preview(session: string | undefined, options: PreviewOptions, context: Context): Promise<number> {
  const messages: string[] = [];
  let found: Preview | undefined;
  const deps = await drainDeps(context, (line) => messages.push(line));
  const deliver = async (work: Drain): Promise<void> => {
    found = await previewDelivery(work, session === undefined ? undefined : namedSession(work.db, session).id);
  };
  const report = await runDrain(deps, { isEager: true, deliver });
  if (report === undefined || found === undefined) {
    throw new UserError("E_BUSY", "another drain is running; try again when it has finished", 1);
  }
  for (const line of messages) context.stderr.write(`${printable(line)}\n`);
  if (options.json) for (const { body } of found.requests) context.stdout.write(`${body}\n`);
  else printLines(context, previewLines(found, session, deps.loaded, terminalOf(context)));
  return 0;
}
