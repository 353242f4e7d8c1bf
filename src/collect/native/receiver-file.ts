import { randomBytes, randomInt } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { removeFile, writeFileAtomic } from "#config/files.ts";
import { assertOwn, readOwn } from "#kit/own-file.ts";
import { RECEIVER } from "../intake/inbox-file.ts";

/** Where agents send their own telemetry, and what they must know to do so. */
export interface Receiver {
  /** On 127.0.0.1. */
  readonly port: number;
  /** 32 random bytes, base64url: 43 characters. */
  readonly token: string;
  /** Sources of the agents that export to it. */
  readonly agents: readonly string[];
  /** Those of them whose metrics are kept too, because `native.forward` sends everything on. */
  readonly forwards: readonly string[];
}

/** The folder of everything that belongs to native telemetry; mode 0700. */
export const nativeDir = (stateDir: string): string => join(stateDir, "native");

/** Bodies that wait to be sent on by `native.forward`. */
export const forwardDir = (stateDir: string): string => join(nativeDir(stateDir), "forward");

/** Bodies that could not be read. */
export const unreadableDir = (stateDir: string): string => join(nativeDir(stateDir), "unreadable");

/** The folder of what agents write to files. */
export const exportedDir = (stateDir: string): string => join(nativeDir(stateDir), "files");

/** What the agents that can only write to a file append to. */
export const exportedFile = (stateDir: string, source: string): string => join(exportedDir(stateDir), `${source}.out`);

/** Its existence says that native telemetry is on: the hook looks for it before it starts the receiver. */
export const receiverPath = (stateDir: string): string => join(stateDir, RECEIVER);

/** Sources of the agents that export to us, to the receiver or to a file. */
export const exportingAgents = (stateDir: string): ReadonlySet<string> =>
  new Set([
    ...(readReceiver(stateDir)?.agents ?? []),
    ...(existsSync(exportedDir(stateDir)) ? readdirSync(exportedDir(stateDir)) : []).map((name) =>
      name.replace(/\..*/, ""),
    ),
  ]);

/**
 * @returns `undefined` if no agent exports to a receiver, and if the file is damaged or is not this user's
 * @throws never
 */
export function readReceiver(stateDir: string): Receiver | undefined {
  return parsed(bytesOf(stateDir));
}

/**
 * Adds an agent. The first one chooses port and token, and so does the next one if the file is damaged: then the settings of the other
 * agents must be written again.
 *
 * @param source of the agent, such as `claude-code`
 * @param isForwarded whether `native.forward` names an exporter of this agent
 * @throws FileError if the file cannot be written, or changed in the meantime (`E_FILE_CHANGED`); NotOwnFileError
 */
export async function addToReceiver(stateDir: string, source: string, isForwarded = false): Promise<Receiver> {
  assertOwn(receiverPath(stateDir));
  const before = bytesOf(stateDir);
  const known = parsed(before) ?? { port: await freePort(), token: newToken(), agents: [], forwards: [] };
  const others = without(known, source);
  const receiver = {
    ...known,
    agents: [...others.agents, source].sort(),
    forwards: isForwarded ? [...others.forwards, source].sort() : others.forwards,
  };
  await write(stateDir, receiver, before);
  return receiver;
}

/**
 * Removes an agent. The last one removes the file: a receiver that runs then ends, and hooks start none.
 *
 * @returns what is left; `undefined` if that is nothing
 * @throws FileError
 */
export async function removeFromReceiver(stateDir: string, source: string): Promise<Receiver | undefined> {
  const before = bytesOf(stateDir);
  const known = parsed(before);
  const receiver = known && without(known, source);
  if (receiver === undefined || receiver.agents.length === 0) {
    await removeFile(receiverPath(stateDir));
    return undefined;
  }
  if (receiver.agents.length < (known?.agents.length ?? 0)) await write(stateDir, receiver, before);
  return receiver;
}

// --- internal ---

// Below the ports that Linux (from 32768), macOS and Windows (from 49152) give to outgoing connections: none of these can take it
const FIRST_PORT = 20_000;
const LAST_PORT = 32_767;
const ATTEMPTS = 50;

function bytesOf(stateDir: string): Buffer | undefined {
  try {
    return readOwn(receiverPath(stateDir));
  } catch {
    return undefined;
  }
}

const write = (stateDir: string, receiver: Receiver, before: Buffer | undefined): Promise<void> =>
  writeFileAtomic(receiverPath(stateDir), `${JSON.stringify(receiver)}\n`, {
    mode: 0o600,
    forceMode: true,
    expect: before ?? null,
  });

function parsed(bytes: Buffer | undefined): Receiver | undefined {
  try {
    const { port, token, agents, forwards = [] } = JSON.parse(String(bytes));
    const isPort = Number.isInteger(port) && port > 0 && port < 65_536;
    const isWhole = isPort && /^[\w-]{43}$/.test(token) && [agents, forwards].every(areSources);
    return isWhole ? { port, token, agents, forwards } : undefined;
  } catch {
    return undefined;
  }
}

const areSources = (list: unknown): boolean =>
  Array.isArray(list) && list.every((one) => typeof one === "string" && /^[a-z0-9-]+$/.test(one));

function without(receiver: Receiver, source: string): Receiver {
  const others = (list: readonly string[]): readonly string[] => list.filter((one) => one !== source);
  return { ...receiver, agents: others(receiver.agents), forwards: others(receiver.forwards) };
}

const newToken = (): string => randomBytes(32).toString("base64url");

async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    // 0: the system chooses
    const port = await tryPort(attempt < ATTEMPTS ? randomInt(FIRST_PORT, LAST_PORT + 1) : 0);
    if (port !== undefined) return port;
  }
}

/** @returns the port, if nobody has it */
const tryPort = (port: number): Promise<number | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" ? address?.port : undefined));
    });
  });
