// Past sessions in folders as they look after years: parts missing, moved, copied, linked or unreadable.
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { INITIAL_OFFSET } from "#core/model/initial-offset.ts";
import type { EntryOf, TranscriptEntry } from "#core/model/transcript.ts";
import { mergeEntries } from "#core/rules/merge.ts";
import { type RecordedHome, recordedCases, recordedHome } from "../import/home.ts";
import { clockAt } from "../support/clock.ts";
import { locateAll } from "../support/located.ts";
import { summaryOf } from "../support/summary.ts";

const cases = await recordedCases();
const homes: RecordedHome[] = [];
afterEach(() => {
  for (const { replay } of homes.splice(0)) replay.remove();
});

async function recorded(source: string, name: string): Promise<RecordedHome> {
  const of = cases.find((one) => one.source === source && one.name === name);
  if (of === undefined) throw new Error(`no recording ${source}/${name}`);
  const at = await recordedHome(of);
  homes.push(at);
  return at;
}

/** Adds the transcripts of a second recording to the home. */
async function withRecorded(at: RecordedHome, name: string): Promise<readonly string[]> {
  const other = await recorded(at.replay.source, name);
  cpSync(other.replay.transcriptRoot, at.replay.transcriptRoot, { recursive: true, preserveTimestamps: true });
  return other.expected.map((session) => session.session_id);
}

const idsIn = async (at: RecordedHome, roots = at.roots): Promise<readonly string[]> =>
  (await locateAll(at.reader, at.home, roots)).sessions.map(({ sessionId }) => sessionId);

const problemsIn = async (at: RecordedHome): Promise<readonly string[]> =>
  (await locateAll(at.reader, at.home, at.roots)).problems.map(({ path, error }) => `${path}: ${error.message}`);

async function callsOf(at: RecordedHome, sessionId: string, path: string): Promise<readonly EntryOf<"model_call">[]> {
  const byKey = new Map<string, TranscriptEntry>();
  for (const file of await at.reader.files({ sessionId, path, home: at.home, roots: at.roots })) {
    for await (const { entries } of at.reader.read({ ...file, roots: at.roots }, INITIAL_OFFSET)) {
      for (const entry of entries) {
        const known = byKey.get(entry.key);
        byKey.set(entry.key, known === undefined ? entry : mergeEntries(known, entry));
      }
    }
  }
  return [...byKey.values()].filter((entry) => entry.kind === "model_call");
}

const figures = (calls: readonly { readonly input?: unknown; readonly output?: unknown }[]): readonly string[] =>
  calls.map(({ input, output }) => `${input}/${output}`).sort();

describe("a session whose main file is missing keeps its subagents and all their tokens", () => {
  test.each([
    ["claude-code", "subagent"],
    ["claude-code", "nested-subagents"],
    ["claude-code", "older-version-2.0.77"],
    ["codex", "subagent"],
    ["codex", "nested-subagents"],
    ["codex", "subagent-fork"],
    ["gemini-cli", "subagent"],
    ["cline", "subagent"],
  ])("%s %s", async (source, name) => {
    const at = await recorded(source, name);
    const [session] = at.expected;
    const [main] = (await locateAll(at.reader, at.home, at.roots)).sessions;
    if (session === undefined || main === undefined) throw new Error("nothing was recorded");
    rmSync(main.path);
    const { sessions, problems } = await locateAll(at.reader, at.home, at.roots);
    expect(problems).toEqual([]);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([session.session_id]);
    const path = sessions[0]?.path ?? "";
    const files = await at.reader.files({ sessionId: session.session_id, path, home: at.home, roots: at.roots });
    expect(files.every(({ agentId }) => agentId !== undefined)).toBe(true);
    const wanted = figures(session.model_calls.filter((call) => call["subagent"] === true));
    expect(wanted.length).toBeGreaterThan(0);
    const calls = await callsOf(at, session.session_id, path);
    expect(figures(calls.map(({ usage }) => usage ?? {}))).toEqual(wanted);

    const endMs = Date.parse(at.calls.at(-1)?.received_at ?? "");
    const time = new Date(endMs).toISOString();
    const envelope = { openhook: "0.1", id: "end", source, type: "session.end", time, session_id: session.session_id };
    at.replay.put({ received_at: time, event: "session.end", stdin: { ...envelope, data: { transcript_path: path } } });
    const report = await at.replay.drain({ endIdle: true }, clockAt(endMs));
    expect(report.problems).toEqual([]);
    expect(figures(summaryOf(at.replay.places.storePath, session.session_id)?.modelCalls ?? [])).toEqual(wanted);
  });
});

describe("Claude Code", () => {
  let at: RecordedHome;
  let project: string;
  let id: string;
  beforeEach(async () => {
    at = await recorded("claude-code", "nested-subagents");
    id = at.expected[0]?.session_id ?? "";
    const [session] = (await locateAll(at.reader, at.home, at.roots)).sessions;
    project = dirname(session?.path ?? "");
  });
  const filesOf = async (path: string): Promise<readonly string[]> =>
    (await at.reader.files({ sessionId: id, path, home: at.home, roots: at.roots })).map((file) => file.path);

  test("finds a workflow's subagents in a nested folder", async () => {
    const below = join(project, id, "subagents");
    const before = await filesOf(join(project, `${id}.jsonl`));
    const [first = ""] = readdirSync(below).filter((name) => name.endsWith(".jsonl"));
    const run = join(below, "workflows", "wf_57c6a296-6f2");
    mkdirSync(run, { recursive: true });
    renameSync(join(below, first), join(run, first));
    writeFileSync(join(run, "journal.jsonl"), "{}\n");
    const after = await filesOf(join(project, `${id}.jsonl`));
    expect(after.map((path) => basename(path)).sort()).toEqual(before.map((path) => basename(path)).sort());
    expect(after).toContain(join(run, first));
  });

  test("a main file moved to another project is still one session with its subagents", async () => {
    const wanted = (await filesOf(join(project, `${id}.jsonl`))).map((path) => basename(path)).sort();
    const other = join(dirname(project), "-home-dev-acme-shop--claude-worktrees-wt1");
    mkdirSync(other);
    renameSync(join(project, `${id}.jsonl`), join(other, `${id}.jsonl`));
    const { sessions, problems } = await locateAll(at.reader, at.home, at.roots);
    expect(problems).toEqual([]);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([id]);
    expect((await filesOf(sessions[0]?.path ?? "")).map((path) => basename(path)).sort()).toEqual(wanted);
  });

  test("a copied project's sessions are found once, with the files of both folders", async () => {
    const copy = join(dirname(project), "-home-dev-acme-shop-old");
    cpSync(project, copy, { recursive: true });
    utimesSync(join(copy, `${id}.jsonl`), new Date("2026-11-20"), new Date("2026-11-20"));
    const { sessions } = await locateAll(at.reader, at.home, at.roots);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([id]);
    const mains = [join(copy, `${id}.jsonl`), join(project, `${id}.jsonl`)].sort();
    expect([...(sessions[0]?.mains ?? [])].sort()).toEqual(mains);
    expect((await filesOf(mains[0] ?? "")).slice(0, 2)).toEqual(mains);
  });

  test("finds each session once in both default folders and a third, also if the folders are links to each other", async () => {
    const config = join(at.home, ".config", "claude");
    mkdirSync(dirname(config), { recursive: true });
    symlinkSync(join(at.home, ".claude"), config);
    expect(await idsIn(at)).toEqual([id]);
    rmSync(config);
    const other = await recorded("claude-code", "two-sessions-at-once");
    mkdirSync(config);
    renameSync(join(other.home, ".claude", "projects"), join(config, "projects"));
    const third = await recorded("claude-code", "basic");
    const all = [id, ...[...other.expected, ...third.expected].map((session) => session.session_id)].sort();
    expect([...(await idsIn(at, [...at.roots, third.home]))].sort()).toEqual(all);
  });

  test("reads a variable with several folders, as usage tools do", async () => {
    const env = { CLAUDE_CONFIG_DIR: `${at.home}/.claude, /mnt/claude2` };
    const roots = at.reader.roots("/home/dev/nowhere", env);
    expect(roots).toContain("/mnt/claude2/projects");
    expect(await idsIn(at, roots)).toEqual([id]);
    expect(at.reader.roots("/home/dev", { CLAUDE_CONFIG_DIR: "/srv/a" })).toEqual(["/srv/a/projects"]);
  });

  test("sorts sessions of all folders by start time, oldest first, if files have one", async () => {
    const forked = await recorded("claude-code", "fork");
    const [fork, origin] = await idsIn(forked);
    const both = [origin ?? "", fork ?? ""];
    for (const [index, name] of both.entries()) {
      const path = (await locateAll(forked.reader, forked.home)).sessions.find((one) => one.sessionId === name)?.path;
      utimesSync(path ?? "", 1_000 + index, 1_000 + index);
    }
    expect(await idsIn(at, [...at.roots, ...forked.roots])).toEqual([...both, id]);
  });

  test("ignores empty files and files that belong to no session", async () => {
    writeFileSync(join(project, "00000000-0000-4000-8000-000000000000.jsonl"), "");
    writeFileSync(join(project, "notes.txt"), "x");
    mkdirSync(join(project, "memory"));
    mkdirSync(join(project, "11111111-0000-4000-8000-000000000000", "tool-results"), { recursive: true });
    expect(await idsIn(at)).toEqual([id]);
    expect(await problemsIn(at)).toEqual([]);
  });

  test("reports unreadable folders and links that lead out, and still finds the rest", async () => {
    const closed = join(dirname(project), "-closed");
    mkdirSync(closed);
    // Root can read every folder
    const isRoot = process.getuid?.() === 0;
    if (!isRoot) writeFileSync(join(closed, "s.jsonl"), "{}\n");
    const outside = join(at.home, "elsewhere");
    cpSync(project, outside, { recursive: true });
    symlinkSync(outside, join(dirname(project), "-outside"));
    symlinkSync(join(outside, `${id}.jsonl`), join(project, "22222222-0000-4000-8000-000000000000.jsonl"));
    symlinkSync(project, join(dirname(project), "-again"));
    symlinkSync(join(dirname(project), "-loop"), join(dirname(project), "-loop"));
    symlinkSync("/home/dev/nowhere", join(dirname(project), "-dangling"));
    chmodSync(closed, 0o000);
    try {
      const { sessions } = await locateAll(at.reader, at.home, at.roots);
      expect(sessions.map(({ path }) => path)).toEqual([join(project, `${id}.jsonl`)]);
      expect([...(await problemsIn(at))].sort()).toEqual([
        expect.stringMatching(
          /-again.22222222-0000-4000-8000-000000000000\.jsonl: .*is a link that leads out: its target is outside/,
        ),
        ...(isRoot ? [] : [expect.stringMatching(/-closed: EACCES/)]),
        expect.stringMatching(/-loop: ELOOP/),
        expect.stringMatching(/-outside: .*is a link that leads out: its target is outside/),
        expect.stringMatching(
          /shop.22222222-0000-4000-8000-000000000000\.jsonl: .*is a link that leads out: its target is outside/,
        ),
      ]);
    } finally {
      chmodSync(closed, 0o700);
    }
  });
});

describe("Codex", () => {
  test("finds an archived session whose subagents are not archived, and the reverse", async () => {
    for (const which of ["root", "subagent"]) {
      const at = await recorded("codex", "subagent");
      const [session] = (await locateAll(at.reader, at.home, at.roots)).sessions;
      const query = { sessionId: session?.sessionId ?? "", path: session?.path ?? "", home: at.home, roots: at.roots };
      const [root, subagent] = await at.reader.files(query);
      const moved = (which === "root" ? root?.path : subagent?.path) ?? "";
      const archive = join(at.home, ".codex", "archived_sessions");
      mkdirSync(archive);
      renameSync(moved, join(archive, basename(moved)));
      const [found, ...others] = (await locateAll(at.reader, at.home, at.roots)).sessions;
      expect(others).toEqual([]);
      const files = await at.reader.files({ ...query, path: found?.path ?? "" });
      expect(
        files.map(({ agentId }) => agentId),
        which,
      ).toEqual([undefined, subagent?.agentId]);
      expect(await at.reader.files(query)).toEqual(files);
    }
  });

  test("sorts by time across folders", async () => {
    const at = await recorded("codex", "basic");
    for (const name of ["older-version-0.131", "old-0.110", "fork"]) await withRecorded(at, name);
    const all = await idsIn(at);
    const [, second = ""] = (await locateAll(at.reader, at.home, at.roots)).sessions.map(({ path }) => path);
    const archive = join(at.home, ".codex", "archived_sessions");
    mkdirSync(archive);
    renameSync(second, join(archive, basename(second)));
    expect(await idsIn(at)).toEqual(all);
    expect(all).toHaveLength(5);
    expect([...all].sort()).toEqual(all);
  });

  test("reports unsupported file formats with their number", async () => {
    const at = await recorded("codex", "basic");
    const [session] = (await locateAll(at.reader, at.home, at.roots)).sessions;
    const day = dirname(session?.path ?? "");
    const name = (n: number) => `rollout-2026-11-01T00-00-00-01a1fc9e-0${n}00-7000-8000-000000000000.jsonl`;
    writeFileSync(join(day, name(3)), '{"id":"x","timestamp":"2025-05-01T00:00:00Z","instructions":null}\n');
    writeFileSync(join(day, name(4)), "");
    writeFileSync(join(day, "rollout-2025-04-20-0e2f3c1a.json"), "{}");
    expect(await idsIn(at)).toEqual([session?.sessionId]);
    expect(await problemsIn(at)).toEqual([
      expect.stringMatching(/: 1 session is of a version/),
      expect.stringMatching(/0300-7000-8000-000000000000\.jsonl: its first line has no thread id/),
    ]);
  });
});

describe("Gemini CLI", () => {
  test("a copied project folder has the same sessions", async () => {
    const at = await recorded("gemini-cli", "subagent");
    const tmp = join(at.home, ".gemini", "tmp");
    const old = join(tmp, "2273ed3494a8b6966822be265392956177247a47cfe17375f71e2dd8a6a23e50");
    cpSync(join(tmp, "acme-shop"), old, { recursive: true });
    const [session] = (await locateAll(at.reader, at.home, at.roots)).sessions;
    const before = join(old, "chats", basename(session?.path ?? ""));
    utimesSync(before, new Date("2026-11-20"), new Date("2026-11-20"));
    const { sessions } = await locateAll(at.reader, at.home, at.roots);
    expect(sessions).toHaveLength(1);
    expect(sessions[0]?.mains).toEqual([before, join(tmp, "acme-shop", "chats", basename(before))]);
  });
});

describe("Copilot", () => {
  test("reads older versions' single files; the folder wins if the session was resumed", async () => {
    const at = await recorded("copilot", "basic");
    const [session] = (await locateAll(at.reader, at.home, at.roots)).sessions;
    const { sessionId = "", path = "" } = session ?? {};
    const state = dirname(dirname(path));
    const bare = join(state, "00000000-0000-4000-8000-000000000000.jsonl");
    cpSync(path, bare);
    cpSync(path, join(state, `${sessionId}.jsonl`));
    utimesSync(bare, new Date("2026-11-20"), new Date("2026-11-20"));
    const { sessions } = await locateAll(at.reader, at.home, at.roots);
    expect(sessions.map((one) => one.path)).toEqual([bare, path]);
    const query = { sessionId: basename(bare, ".jsonl"), home: at.home, roots: at.roots };
    expect(await at.reader.files({ ...query, path: bare })).toEqual([{ path: bare }]);
    expect(await at.reader.files(query)).toEqual([{ path: bare }]);
    expect(await callsOf(at, query.sessionId, bare)).toHaveLength(at.expected[0]?.model_calls.length ?? -1);
  });
});

describe("OpenCode", () => {
  test("finds a database of any name set in the environment, once", async () => {
    const at = await recorded("opencode", "fork");
    const usual = join(at.home, ".local", "share", "opencode", "opencode.db");
    const named = join(at.home, "sessions.sqlite");
    renameSync(usual, named);
    const roots = at.reader.roots(at.home, { OPENCODE_DB: named });
    const { sessions, problems } = await locateAll(at.reader, at.home, [...roots, named]);
    expect(problems).toEqual([]);
    expect(sessions.map(({ path }) => path)).toEqual([named, named]);
    expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual(at.expected.map((one) => one.session_id).sort());
  });

  test("reports sessions of versions without a database unless they were migrated", async () => {
    const at = await recorded("opencode", "basic");
    const folder = join(at.home, ".local", "share", "opencode");
    mkdirSync(join(folder, "storage", "session", "global"), { recursive: true });
    expect(await problemsIn(at)).toEqual([]);
    rmSync(join(folder, "opencode.db"));
    expect(await problemsIn(at)).toEqual([expect.stringMatching(/storage\/session: sessions of a version without/)]);
  });
});
