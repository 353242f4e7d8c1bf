// Another program has the port of the receiver before an agent exports: it gets names, numbers and the token, and no content
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeAll, expect, test } from "vitest";
import { readReceiver } from "#collect/native/receiver-file.ts";
import { ensureBuilt, PROGRAM } from "../support/program.ts";
import { CACHE } from "./agents.ts";
import { install } from "./install.ts";
import { Machine } from "./machine.ts";
import { startModelServer } from "./model-server.ts";
import { enableNative, NATIVE_SCENARIO } from "./native.ts";
import { play } from "./play.ts";
import { toolsOf } from "./programs/program.ts";
import { PROGRAMS } from "./programs.ts";
import { SCENARIOS } from "./scenarios.ts";

/** Agents that export to a port. OpenCode always sends command lines, and `enable --native` says so. */
const WITH_PORT = ["claude-code", "codex", "goose"];

/** The prompt, answers, a command, and what a tool read. */
const CONTENT = ["Check four things", "Four at once", "Finished.", "echo slow", "A small shop"];

const cleanUp: (() => unknown)[] = [];
beforeAll(ensureBuilt);
afterEach(async () => {
  for (const undo of cleanUp.splice(0).reverse()) await undo();
});

test.each(PROGRAMS.filter(({ source }) => WITH_PORT.includes(source)))("$source", async (program) => {
  const installed = install(program, CACHE);
  const machine = new Machine(PROGRAM, installed);
  cleanUp.push(() => machine.remove());
  const { home, project, places } = machine;
  const scenario = SCENARIOS[NATIVE_SCENARIO];
  if (scenario === undefined) throw new Error("no such scenario");
  const { model } = program;
  const server = await startModelServer(
    program.api,
    scenario.script(toolsOf(program, { project, model })),
    program.askerOf,
  );
  cleanUp.push(() => server.close());
  const place = { home, project, model, url: server.url };
  machine.settle(program, place, installed);
  await machine.openhook("enable", program.source);
  await enableNative(machine, program.source);
  const squatter = await startSquatter(readReceiver(places.stateDir)?.port ?? 0);
  cleanUp.push(squatter.close);

  for (const step of scenario.steps) await play(program, step, machine, place);
  await machine.drained();

  const received = squatter.bodies().map((body) => body.toString("latin1"));
  expect(received.length).toBeGreaterThan(0);
  expect(CONTENT.filter((text) => received.some((body) => body.includes(text)))).toEqual([]);
  expect(await machine.openhook("status")).toMatch(/another\s+program\s+has\s+the\s+port/);
});

// --- internal ---

async function startSquatter(port: number) {
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      if (body.length > 0) bodies.push(request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body);
      response.setHeader("content-type", request.headers["content-type"] ?? "application/json");
      response.end(request.headers["content-type"] === "application/json" ? "{}" : "");
    });
  });
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  return {
    bodies: () => bodies,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
