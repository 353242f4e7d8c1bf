import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Context } from "#config/context.ts";
import type { Config } from "#config/schema.ts";
import type { Envelope } from "#core/model/envelope.ts";
import { ENVELOPE_TYPES, type EnvelopeText, OPENHOOK_VERSION } from "#core/model/envelope-types.ts";
import { printable } from "#kit/text/terminal.ts";
import { toEnvelope } from "../convert/envelope-text.ts";
import type { Consent } from "./consent.ts";
import { commandEnvironment } from "./environment.ts";
import { type RegistrationFile, userFileOf } from "./registration-file.ts";
import { runCommand } from "./run-command.ts";
import { commandLines } from "./text.ts";

/**
 * Runs each command of a file once with a sample of the first event type it is registered for, and prints what the command prints,
 * its result and the time it took.
 *
 * @returns how many commands failed
 */
export async function testFile(
  file: RegistrationFile,
  { environment }: Pick<Consent, "environment">,
  { bridge: { timeoutMs }, openhook: { text } }: Pick<Config, "bridge" | "openhook">,
  context: Context,
): Promise<number> {
  const { cwd, places, platform, stdout, now } = context;
  const { folder, path } = file;
  let failed = 0;
  for (const one of file.commands) {
    const types = ENVELOPE_TYPES.filter((known) => text === "context" || known !== "file.write");
    const type = types.find((known) => one.events.includes("*") || one.events.includes(known));
    for (const line of commandLines(one)) stdout.write(`${line}\n`);
    if (type === undefined) {
      stdout.write("      no event of the configured text has such a type\n");
      continue;
    }
    const startMs = performance.now();
    const reason = await runCommand({
      ...{ command: one.command, folder, platform, timeoutMs },
      env: commandEnvironment(environment, {
        projects: path === userFileOf(places) ? [cwd] : [folder, cwd],
        home: places.home,
      }),
      input: JSON.stringify(sampleOf(type, folder, text, now())),
      onOutput: (text) => stdout.write(indented(text)),
    });
    const tookMs = Math.round(performance.now() - startMs);
    stdout.write(
      `      ${type}: ${reason === undefined ? "accepted" : `failed: ${printable(reason)}`} (${tookMs} ms)\n`,
    );
    if (reason !== undefined) failed++;
  }
  return failed;
}

// --- internal ---

/** An envelope as a command gets it; its source says that it is a sample. */
function sampleOf(type: Envelope["type"], folder: string, text: EnvelopeText, nowMs: number): unknown {
  const id = randomUUID();
  const time = new Date(nowMs).toISOString();
  const data = type === "file.write" ? { data: { path: join(folder, "sample.txt") } } : {};
  const base = { openhook: OPENHOOK_VERSION, id, source: "sample", time, session_id: `sample-${id}`, cwd: folder };
  return toEnvelope({ ...base, type, ...data } as Envelope, { text, level: "metadata" });
}

const indented = (text: string): string =>
  text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `      | ${printable(line)}\n`)
    .join("");
