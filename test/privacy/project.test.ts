import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  MAX_ATTRIBUTES,
  MAX_VALUE_CHARACTERS,
  NO_PROJECT_SETTINGS,
  PROJECT_FILE,
  projectSettingsIn,
  readProjectSettings,
} from "#config/project.ts";
import { CAPTURE_LEVELS } from "#core/model/capture.ts";
import type { DrainOptions } from "#pipeline.ts";
import { openDatabase } from "#store/database.ts";
import { type Receiver, startReceiver } from "../receiver/receiver.ts";
import { InboxFixture } from "../support/inbox-fixture.ts";
import fc from "../support/properties.ts";
import { makeUnreadable } from "../support/unreadable.ts";
import { runs } from "../support/whole.ts";

const parsed = (text: unknown) =>
  projectSettingsIn({ path: "p", text: typeof text === "string" ? text : JSON.stringify(text) });

describe("a project's file", () => {
  test("can disable collection, lower the capture level, and add attributes", () => {
    expect(
      parsed('{ "disabled": true, /* ours */ "capture": "none", "changes": false, "attributes": { "team": "shop" }, }'),
    ).toEqual({
      disabled: true,
      withoutChanges: true,
      capture: "none",
      attributes: { team: "shop" },
      warnings: [],
    });
    expect(parsed({ resource: { attributes: { "deployment.environment.name": "test" } } }).attributes).toEqual({
      "deployment.environment.name": "test",
    });
    expect(parsed("")).toEqual(NO_PROJECT_SETTINGS);
  });

  test.each([
    ["an address", { otlp: { endpoint: "https://evil.example.org", headers: { a: "b" } } }, "otlp"],
    ["the identity", { identity: { user: "plain" } }, "identity"],
    ["redaction", { redaction: { emails: false, rules: {} } }, "redaction"],
    ["transcript folders", { transcripts: { folders: "/etc" } }, "transcripts"],
    ["the service name", { resource: { serviceName: "bank" } }, "resource.serviceName"],
    ["the service name as an attribute", { attributes: { "service.name": "bank" } }, "attributes.service.name"],
    ["tokens", { attributes: { "gen_ai.usage.input_tokens": "1" } }, "attributes.gen_ai.usage.input_tokens"],
    ["our own attribute names", { attributes: { "openhook.cost.usd": "0" } }, "attributes.openhook.cost.usd"],
    ["a user", { attributes: { "user.email": "a@example.org" } }, "attributes.user.email"],
    ["a number", { attributes: { team: 5 } }, "attributes.team"],
    ["a long text", { attributes: { team: "x".repeat(MAX_VALUE_CHARACTERS + 1) } }, "attributes.team"],
    ["an unknown key", { whatever: true }, "whatever"],
    ["a prototype", '{"__proto__": {"disabled": true}, "constructor": 1}', "__proto__"],
  ])("cannot set %s: it is ignored with a message", (_, text, key) => {
    const { warnings, ...wishes } = parsed(text);
    expect(wishes).toEqual({ disabled: false, withoutChanges: false, attributes: {} });
    expect(warnings.join("\n")).toContain(`${key} is ignored`);
  });

  test.each([
    ["broken", '{ "disabled": tru', /not valid JSON/],
    ["not an object", "[1]", /not a JSON object/],
    ["in the middle of a merge", "<<<<<<< HEAD\n{}\n", /not valid JSON/],
    ["deeply nested", "[".repeat(100_000), /nested too deep/],
    ["with an invalid level", { capture: "all" }, /capture must be one of/],
    ["with an invalid switch", { disabled: "yes" }, /disabled must be true or false/],
  ])("that is %s lowers the level to none", (_, text, why) => {
    const { capture, warnings, disabled } = parsed(text);
    expect([capture, disabled]).toEqual(["none", false]);
    expect(warnings.join("\n")).toMatch(why);
  });

  test("with any content can only lower the level", () => {
    const name = fc.oneof(
      fc.constantFrom(
        "disabled",
        "capture",
        "attributes",
        "resource",
        "otlp",
        "identity",
        "redaction",
        "endpoint",
        "__proto__",
      ),
      fc.string(),
    );
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.constantFrom(...CAPTURE_LEVELS),
        fc.dictionary(name, tie("tree"), { maxKeys: 8 }),
      ),
    }));
    fc.assert(
      fc.property(
        fc.oneof(
          tree.map((value) => JSON.stringify(value)),
          fc.string(),
        ),
        (text) => {
          const wishes = parsed(text);
          for (const key of Object.keys(wishes))
            expect(["disabled", "capture", "withoutChanges", "attributes", "warnings"]).toContain(key);
          expect(Object.keys(wishes.attributes).length).toBeLessThanOrEqual(MAX_ATTRIBUTES);
          for (const [key, value] of Object.entries(wishes.attributes)) {
            expect(key).toMatch(/^(?!service|openhook|gen_ai|user|vcs|session|telemetry)[a-z][a-z0-9_.-]*$/);
            expect(value.length).toBeLessThanOrEqual(MAX_VALUE_CHARACTERS);
          }
          for (const warning of wishes.warnings) expect(warning).toMatch(/^[\x20-\x7e…]*$/);
          expect(wishes.warnings.length).toBeLessThan(30);
        },
      ),
      { numRuns: runs(1_500) },
    );
  });
});

describe("the file that applies to a folder", () => {
  let root = "";
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "openhook-project-"));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
  const put = (folder: string, value: unknown, name = PROJECT_FILE): void => {
    mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, folder, name), typeof value === "string" ? value : JSON.stringify(value));
  };
  const git = (...args: string[]) =>
    execFileSync(
      "git",
      ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always", ...args],
      {
        cwd: root,
        stdio: "pipe",
      },
    );

  test("the repository's, for every folder in it; none above it", async () => {
    put(".", { attributes: { above: "x" } });
    put("repo/.git", "ref: refs/heads/main", "HEAD");
    put("repo", { capture: "metadata", attributes: { team: "shop", part: "all" } });
    put("repo/packages/a", { capture: "none", attributes: { part: "a" } });
    put("repo/packages/b", { capture: "full" });
    expect(await readProjectSettings(join(root, "repo", "packages", "a"))).toMatchObject({
      capture: "none",
      attributes: { team: "shop", part: "a" },
    });
    // A folder cannot raise the level that the root lowered
    expect((await readProjectSettings(join(root, "repo", "packages", "b"))).capture).toBe("metadata");
    expect((await readProjectSettings(join(root, "repo"))).attributes).toEqual({ team: "shop", part: "all" });
  });

  test("only its own, outside a repository", async () => {
    put(".", { disabled: true });
    put("a", { attributes: { team: "shop" } });
    expect(await readProjectSettings(join(root, "a"))).toMatchObject({ disabled: false, attributes: { team: "shop" } });
  });

  test("that of the link's target, not those above the link", async () => {
    put("repo/.git", "", "HEAD");
    put("repo", { disabled: true });
    put("repo/sub", {});
    symlinkSync(join(root, "repo", "sub"), join(root, "link"));
    expect((await readProjectSettings(join(root, "link"))).disabled).toBe(true);
  });

  test("the worktree's copy in a worktree, the submodule's in a submodule", async () => {
    git("init", "-q", "main");
    put("main", { disabled: true });
    git("-C", "main", "add", ".");
    git("-C", "main", "commit", "-q", "-m", "a");
    git("-C", "main", "worktree", "add", "-q", "../tree");
    expect((await readProjectSettings(join(root, "tree"))).disabled).toBe(true);
    git("init", "-q", "outer");
    put("outer", { capture: "none" });
    git("-C", "outer", "submodule", "add", "-q", join(root, "main"), "inner");
    expect(await readProjectSettings(join(root, "outer", "inner"))).toMatchObject({ disabled: true });
    expect((await readProjectSettings(join(root, "outer", "inner"))).capture).toBeUndefined();
  });

  test("an unreadable file, a link, a folder or a too large file lowers the level to none", async () => {
    for (const folder of ["link", "folder", "large", "barred", "fifo"]) put(`${folder}/.git`, "", "HEAD");
    symlinkSync("/etc/passwd", join(root, "link", PROJECT_FILE));
    mkdirSync(join(root, "folder", PROJECT_FILE));
    put("large", `{"disabled":true,"x":"${"x".repeat(70_000)}"}`);
    put("barred", {});
    makeUnreadable(join(root, "barred", PROJECT_FILE));
    execFileSync("mkfifo", [join(root, "fifo", PROJECT_FILE)]);
    for (const folder of ["link", "folder", "large", "barred", "fifo"]) {
      const wishes = await readProjectSettings(join(root, folder));
      expect([folder, wishes.capture, wishes.warnings.length]).toEqual([folder, "none", 1]);
    }
  });

  test("none for a missing folder or a file", async () => {
    expect(await readProjectSettings(join(root, "gone"))).toEqual(NO_PROJECT_SETTINGS);
    expect(await readProjectSettings("relative")).toEqual(NO_PROJECT_SETTINGS);
    expect(await readProjectSettings("/dev/null")).toEqual(NO_PROJECT_SETTINGS);
  });
});

describe("a session in such a project", () => {
  let receiver: Receiver;
  const fixtures: InboxFixture[] = [];
  const folders: string[] = [];
  afterAll(async () => {
    for (const inbox of fixtures) inbox.remove();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    await receiver?.close();
  });

  const project = (value: unknown): string => {
    const folder = mkdtempSync(join(tmpdir(), "openhook-project-"));
    folders.push(folder);
    mkdirSync(join(folder, ".git"));
    if (value !== undefined) writeFileSync(join(folder, PROJECT_FILE), JSON.stringify(value));
    return folder;
  };
  const start = async (env: Record<string, string> = {}) => {
    receiver ??= await startReceiver();
    receiver.clear();
    const inbox = new InboxFixture();
    fixtures.push(inbox);
    return { inbox, env: { OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url, ...env } };
  };
  const drainWith = (inbox: InboxFixture, env: Record<string, string>, options: DrainOptions) => {
    inbox.env = env;
    return inbox.drain(options);
  };
  const CANARY = "kanarienvogel";
  const time = (s: number) => new Date(Date.UTC(2026, 10, 1, 10, 0, s)).toISOString();
  const event = (type: string, s: number, cwd: string | undefined, more: object = {}) => ({
    openhook: "0.1",
    id: `${CANARY}-${type}-${s}`,
    source: "acme",
    type,
    time: time(s),
    session_id: "s-1",
    ...(cwd !== undefined && { cwd }),
    ...more,
  });
  const work = (cwd: string | undefined) => [
    event("session.start", 0, cwd),
    event("prompt.submit", 1, cwd, { extensions: { prompt_id: "p" } }),
    event("tool.start", 2, cwd, { data: { tool_name: CANARY, tool_call_id: "c" } }),
    event("tool.end", 3, cwd, { data: { tool_name: CANARY, tool_call_id: "c", status: "success" } }),
    event("session.end", 4, cwd, { data: { reason: "completed" } }),
  ];

  test("disabled: nothing is stored, sent or listed", async () => {
    const { inbox, env } = await start();
    for (const one of work(project({ disabled: true }))) inbox.put({ events: [one] });
    await drainWith(inbox, env, { endIdle: true });
    const sent = receiver.requests.map(({ body }) => body.toString("latin1")).join();
    expect(sent).not.toContain(CANARY);
    expect(receiver.spans).toEqual([]);
    expect(rowsOf(inbox)).not.toContain(CANARY);
    expect(bytesOf(inbox)).not.toContain(CANARY);
  });

  test("disabled midway: stored and queued data are deleted, and it stays disabled", async () => {
    const { inbox, env } = await start();
    const folder = project(undefined);
    const [first, second, ...rest] = work(folder);
    inbox.put({ events: [first, second] });
    await drainWith(inbox, { ...env, OPENHOOK_OTEL_DISABLED: "true" }, {});
    expect(rowsOf(inbox)).toContain(CANARY);
    writeFileSync(join(folder, PROJECT_FILE), JSON.stringify({ disabled: true }));
    inbox.put({ events: rest });
    await drainWith(inbox, env, {});
    expect(rowsOf(inbox)).not.toContain(CANARY);
    rmSync(join(folder, PROJECT_FILE));
    inbox.put({ events: [event("prompt.submit", 9, folder)] });
    await drainWith(inbox, env, { endIdle: true });
    expect(rowsOf(inbox)).not.toContain(CANARY);
    expect(receiver.spans).toEqual([]);
  });

  test("disabled, its folder reported late", async () => {
    const { inbox, env } = await start();
    const folder = project({ disabled: true });
    const [first, ...rest] = work(undefined);
    inbox.put({ events: [first] });
    inbox.put({ events: [event("prompt.submit", 1, folder)] });
    for (const one of rest) inbox.put({ events: [one] });
    await drainWith(inbox, env, { endIdle: true });
    expect(rowsOf(inbox)).not.toContain(CANARY);
    expect(receiver.spans).toEqual([]);
  });

  test("attributes are on its spans and never replace the user's or ours", async () => {
    const { inbox, env } = await start({ OPENHOOK_OTEL_RESOURCE_ATTRIBUTES: "team=mine" });
    const folder = project({
      attributes: { team: "theirs", part: "shop", "gen_ai.tool.name": "x" },
      otlp: { endpoint: "x" },
    });
    for (const one of work(folder)) inbox.put({ events: [one] });
    const report = await drainWith(inbox, env, { endIdle: true });
    expect(receiver.spans.length).toBeGreaterThan(1);
    for (const { attributes, resource } of receiver.spans) {
      expect(attributes["part"]).toBe("shop");
      expect(attributes["team"]).toBeUndefined();
      expect(resource["team"]).toBe("mine");
    }
    expect(report.problems.join("\n")).toMatch(/otlp is ignored/);
    expect(report.problems.join("\n")).toMatch(/gen_ai\.tool\.name is ignored/);
  });

  test.each([
    ["lower than the user's", "full", "metadata", "metadata"],
    ["higher than the user's", "metadata", "full", "full"],
  ])("capture %s: the stricter one applies", async (_, user, theirs, stored) => {
    const { inbox, env } = await start({ OPENHOOK_OTEL_CAPTURE: user });
    for (const one of work(project({ capture: theirs }))) inbox.put({ events: [one] });
    await drainWith(inbox, env, { endIdle: true });
    const db = openDatabase(inbox.places.storePath);
    expect(db.prepare("SELECT capture FROM sessions WHERE session_id = 's-1'").get()?.["capture"]).toBe(stored);
    db.close();
    expect(receiver.spans.length).toBeGreaterThan(1);
  });

  test("capture none: names of repositories and tools are not sent", async () => {
    const { inbox, env } = await start({ OPENHOOK_OTEL_CAPTURE: "redacted" });
    for (const one of work(project({ capture: "none" }))) inbox.put({ events: [one] });
    await drainWith(inbox, env, { endIdle: true });
    expect(receiver.spans.length).toBeGreaterThan(1);
    expect(receiver.requests.map(({ body }) => body.toString("latin1")).join()).not.toContain(CANARY);
  });
});

// --- internal ---

function rowsOf({ places }: InboxFixture): string {
  const db = openDatabase(places.storePath);
  try {
    const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    return tables
      .flatMap(({ name }) => db.prepare(`SELECT * FROM "${name}"`).all())
      .map((row) => JSON.stringify(row))
      .join("\n");
  } finally {
    db.close();
  }
}

function bytesOf({ places }: InboxFixture): string {
  const names = readdirSync(places.stateDir).filter((name) => name.startsWith(basename(places.storePath)));
  return names.map((name) => readFileSync(join(places.stateDir, name), "latin1")).join("");
}
