import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { allAgents } from "#agents/registry.ts";
import { validate } from "#check/conformance/conformance.ts";
import { conforms, leftOutLines, validationLines } from "#check/conformance/report-text.ts";
import { convertAll } from "#collect/convert/envelopes.ts";
import { payloadsOf } from "#collect/convert/input.ts";
import type { Context } from "#config/context.ts";
import { type Discovery, readDiscovery } from "#config/discovery.ts";
import { readFileIfAny } from "#config/files.ts";
import { loadConfig } from "#config/load.ts";
import type { EnvelopeText } from "#core/model/envelope-types.ts";
import { meantAgent } from "#core/rules/cards.ts";
import { UserError } from "#kit/errors.ts";
import { printable, writeLines } from "#kit/text/terminal.ts";
import { withUserErrors } from "#setup/registration/settings.ts";

export interface ConvertOptions {
  /** The agent that sent the payloads, if they do not name it. */
  readonly source?: string;
  /** The native event name, if the payloads do not contain it. */
  readonly event?: string;
  /** The text of the envelopes. @default `openhook.text` of the settings */
  readonly text?: EnvelopeText;
  /** Check envelopes instead of making them. */
  readonly validate: boolean;
  /** The `.openhook.json` through which the envelopes came. */
  readonly discovery?: string;
}

/**
 * `openhook-otel convert`: native payloads → OpenHook v0.1 envelopes, one JSON line each; with `validate` a report on a
 * stream of envelopes. stderr lists what is left out, without content of payloads.
 *
 * @param file `-` or nothing: stdin
 * @returns exit code: 0; 1 when a payload was not understood, or an envelope is not valid
 * @throws UserError when there is nothing to read
 */
export async function convert(file: string | undefined, options: ConvertOptions, context: Context): Promise<number> {
  const input = await withUserErrors(() => inputOf(file, context));
  if (options.validate) {
    const found = validate(input, await discoveryOf(options, context));
    writeLines(context.stdout, validationLines(found).map(printable));
    return conforms(found) ? 0 : 1;
  }
  const agents = await allAgents();
  if (options.source !== undefined && !agents.some((agent) => agent.source === options.source)) {
    const known = agents.map((agent) => agent.source);
    const hint = meantAgent(options.source, agents);
    throw new UserError(
      "E_AGENT",
      `unknown agent ${JSON.stringify(options.source)}${hint}; known are: ${known.join(", ")}`,
    );
  }
  const { source, event } = options;
  const given = { ...(source !== undefined && { source }), ...(event !== undefined && { event }) };
  const text = options.text ?? (await loadConfig(context)).config.openhook.text;
  const conversion = convertAll(payloadsOf(input, given, context.now), agents, text);
  writeLines(
    context.stdout,
    conversion.envelopes.map((envelope) => JSON.stringify(envelope)),
  );
  for (const line of leftOutLines(conversion, text)) context.stderr.write(`openhook-otel: ${printable(line)}\n`);
  return conversion.problems.length > 0 ? 1 : 0;
}

// --- internal ---

async function inputOf(file: string | undefined, context: Context): Promise<Buffer> {
  if (file === undefined || file === "-") {
    if (context.stdin.isTTY === true) {
      throw new UserError("E_USAGE", "nothing to read: name a file, or pipe payloads into it");
    }
    return wholeOf(context.stdin);
  }
  const bytes = await readFileIfAny(resolve(context.cwd, file));
  if (bytes === undefined) throw new UserError("E_FILE", `there is no file ${JSON.stringify(file)}`);
  return bytes;
}

async function wholeOf(stdin: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return Buffer.concat(chunks);
}

async function discoveryOf({ discovery: path }: ConvertOptions, context: Context): Promise<Discovery | undefined> {
  if (path === undefined) return undefined;
  const found = await readDiscovery(resolve(context.cwd, path));
  if (found === undefined) throw new UserError("E_FILE", `there is no file ${JSON.stringify(path)}`);
  if (typeof found === "string") throw new UserError("E_FILE", `${path} is not an OpenHook discovery file: ${found}`);
  return found;
}
