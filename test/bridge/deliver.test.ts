import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Envelope } from "#core/model/envelope.ts";
import { until } from "../support/program.ts";
import { APPEND, bridgedProjects, TYPES } from "./bridged-project.ts";

const at = bridgedProjects();

describe("delivery", () => {
  test("every event of a session arrives once, in order, as a valid envelope", async () => {
    at().write([{ command: APPEND }]);
    await at().allow();
    at().putAll();
    await at().drain();
    expect(at().types()).toEqual(TYPES);
    for (const envelope of at().got()) expect(Envelope.safeParse(envelope).error).toBeUndefined();
    expect(
      new Set(
        at()
          .got()
          .map(({ id }) => id),
      ).size,
    ).toBe(TYPES.length);
    await at().drain();
    at().putAll();
    await at().drain();
    expect(at().got(), "the same payloads again").toHaveLength(TYPES.length);
    expect(at().states()).toMatchObject([{ delivered: TYPES.length, queued: 0, failures: 0, dropped: 0 }]);
  });

  test("a command gets only the types it is registered for, and each command its own copy", async () => {
    at().write([
      { command: APPEND, events: ["tool.start", "tool.end"] },
      { command: 'cat >> "$HOME/ends.jsonl"', events: ["session.end"], async: true },
      { command: 'cat >> "$HOME/never.jsonl"', events: ["file.write"] },
    ]);
    await at().allow();
    at().putAll();
    await at().drain();
    expect(at().types()).toEqual(["tool.start", "tool.end", "tool.start", "tool.end"]);
    expect(at().types("ends.jsonl")).toEqual(["session.end"]);
    expect(at().got("never.jsonl")).toEqual([]);
  });

  test("the user's own file gets the sessions of every project", async () => {
    const own = join(at().replay.home, ".config", "openhook-otel", "openhook.json");
    mkdirSync(join(own, ".."), { recursive: true });
    at().write([{ command: APPEND }], own);
    await at().allow(own);
    at().putAll();
    await at().drain();
    expect(at().types()).toEqual(TYPES);
  });

  test("events from before the consent are not handed over", async () => {
    at().write([{ command: APPEND }]);
    const [first, ...others] = at().replay.calls;
    if (first !== undefined) at().replay.put(first);
    await at().drain();
    await at().allow();
    for (const call of others) at().replay.put(call);
    await at().drain();
    expect(at().types()).toEqual(TYPES.slice(1));
  });

  test("a command's environment is what the user had when allowing it, whatever the agent's repository sets for the drain", async () => {
    const PATH = "/usr/local/bin:/usr/bin:/bin";
    at().write([{ command: 'printenv > "$HOME/environment"', events: ["session.end"] }]);
    await at().allow(at().file, { PATH, LANG: "de_DE.UTF-8", TMPDIR: "/var/tmp", AWS_SECRET: "s3cret" });
    at().putAll();
    const names = [
      "PATH",
      "TMPDIR",
      "DBUS_SESSION_BUS_ADDRESS",
      "SHELL",
      "LANG",
      "LC_ALL",
      "XDG_CONFIG_HOME",
      "DISPLAY",
      "HOME",
    ];
    const evil = Object.fromEntries(names.map((name) => [name, `/tmp/evil-${name}`]));
    await at().drain({}, { env: { ...evil, PATH: `/tmp/evil-PATH:${PATH}` } });
    const text = readFileSync(join(at().replay.home, "environment"), "utf8");
    expect(text).not.toMatch(/evil|s3cret/);
    expect(text).toContain(`PATH=${PATH}\n`);
    expect(text).toContain("LANG=de_DE.UTF-8\n");
    expect(text).toContain("TMPDIR=/var/tmp\n");
  });

  test("a preview runs nothing; the next drain does", async () => {
    at().write([{ command: APPEND }]);
    await at().allow();
    at().putAll();
    await at().drain({ deliver: async () => {} });
    expect(at().got()).toEqual([]);
    await at().drain();
    expect(at().types()).toEqual(TYPES);
  });

  test("asynchronous commands run side by side, the envelopes of one session one after another", async () => {
    at().write([{ command: `${APPEND}; echo start >> "$HOME/log"; sleep 0.05; echo end >> "$HOME/log"`, async: true }]);
    await at().allow();
    at().putAll();
    await at().drain();
    expect(at().types()).toEqual(TYPES);
    const log = readFileSync(join(at().replay.home, "log"), "utf8").trim().split("\n");
    expect(log).toEqual(TYPES.flatMap(() => ["start", "end"]));
  });

  test("a backend that has not responded yet delays no command", async () => {
    at().write([
      { command: APPEND, events: ["session.start"] },
      { command: 'touch "$HOME/end"', events: ["session.end"] },
    ]);
    await at().allow();
    const end = join(at().replay.home, "end");
    const calls = at().replay.calls;
    let wasInTime: boolean | undefined;
    const backend = createServer(async (request, response) => {
      request.resume();
      if (wasInTime === undefined) {
        wasInTime = false;
        for (const call of calls.slice(-1)) at().replay.put(call);
        await until("the command has run", () => existsSync(end)).then(
          () => (wasInTime = true),
          () => {},
        );
      }
      response.end("{}");
    });
    await new Promise<void>((done) => backend.listen(0, "127.0.0.1", done));
    at().replay.env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(backend.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    };
    for (const call of calls.slice(0, -1)) at().replay.put(call);
    await at().drain({ endIdle: true });
    backend.close();
    expect(wasInTime).toBe(true);
    expect(at().types()).toEqual(["session.start"]);
  });

  test("a command sees the project's folder, the user's home and no secrets of the agent", async () => {
    at().write([{ command: 'pwd > "$HOME/where"; env > "$HOME/env"', events: ["session.start"] }]);
    await at().allow();
    at().putAll();
    await at().drain();
    expect(readFileSync(join(at().replay.home, "where"), "utf8").trim()).toMatch(/acme-shop$/);
    const env = readFileSync(join(at().replay.home, "env"), "utf8");
    expect(env).toContain("OPENHOOK_BRIDGE=openhook-otel");
    expect(env).not.toContain("s3cret");
  });
});

describe("consent", () => {
  test("nothing runs without consent", async () => {
    at().write([{ command: APPEND }]);
    at().putAll();
    await at().drain();
    expect(at().got()).toEqual([]);
    expect(at().states()).toEqual([]);
  });

  test("a changed file runs nothing, and what was queued for it waits until it is allowed again", async () => {
    at().write([{ command: APPEND }]);
    await at().allow();
    const before = readFileSync(at().file);
    at().putAll();
    await at().drain({ deliver: async () => {} });
    at().write([{ command: APPEND }, { command: "true" }]);
    await at().drain();
    expect(at().got()).toEqual([]);
    expect(at().states()).toMatchObject([{ queued: TYPES.length }]);
    writeFileSync(at().file, before);
    await at().drain();
    expect(at().types()).toEqual(TYPES);
  });
});

describe("loops", () => {
  test("an agent that a command runs is recorded, and its events start no command", async () => {
    at().write([{ command: APPEND }]);
    await at().allow();
    for (const call of at().replay.calls)
      at().replay.put({ ...call, env: { ...call.env, OPENHOOK_BRIDGE: "openhook-otel" } });
    const { events } = await at().drain();
    expect(events).toBeGreaterThan(TYPES.length);
    expect(at().got()).toEqual([]);
  });

  test("an envelope that a command passes to our hook again is not delivered again", async () => {
    at().write([{ command: APPEND }]);
    await at().allow();
    at().putAll();
    await at().drain();
    const [envelope] = at().got();
    at().replay.put({ received_at: new Date().toISOString(), event: "session.start", stdin: envelope ?? {} });
    await at().drain();
    expect(at().got()).toHaveLength(TYPES.length);
  });
});
