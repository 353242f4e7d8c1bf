import { createHash } from "node:crypto";
import { join } from "node:path";
import { runCommand } from "../bridge/run-command.ts";
import { messageOf } from "../model/error-message.ts";
import type { OtlpSignalSettings } from "../model/settings.ts";
import { suggest } from "../model/suggest.ts";
import { type HeaderReader, HeadersError } from "../otlp/header-reader.ts";
import { providerEnvironment } from "./environment.ts";
import { expiryOf } from "./expiry.ts";
import { readKept, readSmallFile, writeKept } from "./files.ts";
import { type Headers, parseHeaders } from "./parse.ts";

/** Where the program runs, as in `Context`. */
export interface ReaderPlaces {
  readonly home: string;
  readonly stateDir: string;
}

/**
 * Reads the headers that `otlp.headersFile` and `otlp.headersCommand` provide. A command runs in the user's home with an environment
 * that no repository can name; its output is neither logged nor quoted. What it printed is used again, by later drains too, until it
 * expires or the backend refuses it. It is kept in a file of the state directory that only this user can read, where the
 * configuration keeps fixed headers in the same way.
 *
 * The reader throws HeadersError that names the setting.
 */
export function headerReader(places: ReaderPlaces, platform: NodeJS.Platform, now: () => number): HeaderReader {
  return async ({ headersFile, headersCommand }, isRefused) => ({
    ...(headersFile !== undefined && (await fromFile(headersFile))),
    ...(headersCommand !== undefined && (await fromCommand(headersCommand, isRefused, { places, platform, now }))),
  });
}

// --- internal ---

interface World {
  readonly places: ReaderPlaces;
  readonly platform: NodeJS.Platform;
  readonly now: () => number;
}

/** Long enough for a login program with a slow network; a drain waits for it. */
const TIMEOUT_MS = 10_000;
const CACHE = "headers.json";

async function fromFile(path: NonNullable<OtlpSignalSettings["headersFile"]>): Promise<Headers> {
  const what = `otlp.headersFile ${JSON.stringify(path)}`;
  let text: string;
  try {
    text = await readSmallFile(path);
  } catch (error) {
    throw new HeadersError(`cannot read ${what}: ${messageOf(error)}`, "write the file, or correct otlp.headersFile");
  }
  const { headers, problem } = parseHeaders(text, { canBeLines: true });
  if (problem !== undefined) throw new HeadersError(`${what}: ${problem}`, FORM);
  return headers;
}

async function fromCommand(command: string, isRefused: boolean, world: World): Promise<Headers> {
  const { places, now } = world;
  const path = join(places.stateDir, CACHE);
  const key = createHash("sha256").update(command).digest("hex");
  const kept = await readKept(path);
  const entry = kept[key];
  if (!isRefused && entry !== undefined && now() < entry.untilMs && entry.sinceMs <= now()) return entry.headers;
  const headers = await run(command, world);
  const others = Object.entries(kept).filter(([name, { untilMs }]) => name !== key && now() < untilMs);
  const entries = {
    ...Object.fromEntries(others),
    [key]: { headers, sinceMs: now(), untilMs: expiryOf(headers, now()) },
  };
  // Without the file the command runs again in the next drain
  await writeKept(path, entries).catch(() => {});
  return headers;
}

async function run(command: string, { places, platform }: World): Promise<Headers> {
  let output = "";
  const failure = await runCommand({
    command,
    folder: places.home,
    env: providerEnvironment(places.home, platform),
    input: "",
    timeoutMs: TIMEOUT_MS,
    platform,
    onOutput: (text, isError) => {
      if (!isError) output += text;
    },
  });
  const remedy = `run it by hand: ${suggest("config get otlp.headersCommand")} shows it; it has 10 s, and a PATH of the system's folders only`;
  if (failure !== undefined) throw new HeadersError(`otlp.headersCommand: ${failure}`, remedy);
  const { headers, problem } = parseHeaders(output, { canBeLines: false });
  if (problem !== undefined) throw new HeadersError(`otlp.headersCommand: its output ${problem}`, FORM);
  return headers;
}

const FORM = 'it must be a JSON object of strings: {"authorization": "Bearer …"}';
