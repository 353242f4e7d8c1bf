import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { allAgents } from "../agents/registry.ts";
import { readFileIfAny } from "../config/files.ts";
import { type Context, UserError } from "../context.ts";
import { type Note, type StreamReport, validate } from "../convert/conformance.ts";
import { type Conversion, convertAll } from "../convert/envelopes.ts";
import { payloadsOf } from "../convert/input.ts";
import { type Discovery, readDiscovery } from "../registration/discovery.ts";
import { withUserErrors } from "../registration/settings-edit.ts";
import { plural } from "../text/figures.ts";
import { printable, writeLines } from "../text/terminal.ts";

export interface ConvertOptions {
  /** The agent that sent the payloads, if they do not name it. */
  readonly source?: string;
  /** The native event name, if the payloads do not contain it. */
  readonly event?: string;
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
  if (options.validate) return report(validate(input, await discoveryOf(options, context)), context);
  const agents = await allAgents();
  if (options.source !== undefined && !agents.some((agent) => agent.source === options.source)) {
    const known = agents.map((agent) => agent.source).join(", ");
    throw new UserError("E_AGENT", `unknown agent ${JSON.stringify(options.source)}; known are: ${known}`);
  }
  const { source, event } = options;
  const given = { ...(source !== undefined && { source }), ...(event !== undefined && { event }) };
  const conversion = convertAll(payloadsOf(input, given, context.now), agents);
  writeLines(
    context.stdout,
    conversion.envelopes.map((envelope) => JSON.stringify(envelope)),
  );
  for (const line of leftOut(conversion)) context.stderr.write(`openhook-otel: ${printable(line)}\n`);
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

const MAX_PROBLEMS = 50;

function* leftOut({ envelopes, signals, duplicates, withoutEvents, problems }: Conversion): Generator<string> {
  for (const { line, reason } of problems.slice(0, MAX_PROBLEMS)) yield `line ${line}: ${reason}`;
  if (problems.length > MAX_PROBLEMS) yield `and ${problems.length - MAX_PROBLEMS} more lines like these`;
  const types = [...signals].map(([type, n]) => `${n} ${type}`).join(", ");
  const parts = [
    ...(types === "" ? [] : [`${types} (OpenHook has no such types)`]),
    ...(duplicates === 0 ? [] : [plural(duplicates, "duplicate event", "duplicate events")]),
    ...(withoutEvents === 0 ? [] : [plural(withoutEvents, "payload without an event", "payloads without an event")]),
    ...(problems.length === 0 ? [] : [plural(problems.length, "payload not understood", "payloads not understood")]),
  ];
  if (parts.length > 0) yield `${plural(envelopes.length, "envelope")}; left out: ${parts.join("; ")}`;
}

const LEVEL_NAMES = [
  "does not conform",
  "level 1 (minimal)",
  "level 2 (observable)",
  "level 3 (discoverable)",
] as const;

function report({ notes, envelopes, sources }: StreamReport, { stdout }: Context): number {
  const isWrong = ({ level }: Note): boolean => level === "error";
  const errors = notes.filter(isWrong).length;
  writeLines(stdout, [
    ...notes.map(({ line, level, text }) => `line ${line}: ${level}: ${printable(text)}`),
    `${plural(envelopes, "valid envelope")}, ${plural(errors, "error")}, ${plural(notes.length - errors, "remark")}`,
    ...sources.map(({ source, level, missing }) => {
      const next =
        missing.length === 0 ? "" : `; ${level === 0 ? "needed" : `level ${level + 1} needs`} ${missing.join(", ")}`;
      return `${printable(source)}: OpenHook v0.1 ${LEVEL_NAMES[level]}${next}`;
    }),
  ]);
  return errors > 0 || envelopes === 0 ? 1 : 0;
}
