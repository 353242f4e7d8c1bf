import { afterEach, describe, expect, test } from "vitest";
import { nativePath } from "#collect/transcripts/native-path.ts";
import { openDatabase } from "#store/database.ts";
import { Replay } from "../support/replay.ts";

describe("one file has one name", () => {
  test.each([
    ["win32", "C:/Users/dev/.claude/projects/s.jsonl", "C:\\Users\\dev\\.claude\\projects\\s.jsonl"],
    ["win32", "C:\\Users/dev\\s.jsonl", "C:\\Users\\dev\\s.jsonl"],
    ["win32", "//files/dev/s.jsonl", "\\\\files\\dev\\s.jsonl"],
    ["win32", "/home/dev/s.jsonl", "/home/dev/s.jsonl"],
    ["linux", "C:/Users/dev/s.jsonl", "C:/Users/dev/s.jsonl"],
    ["linux", "/home/dev/a\\b.jsonl", "/home/dev/a\\b.jsonl"],
  ] as const)("on %s %s is %s", (platform, path, expected) => {
    expect(nativePath(path, platform)).toBe(expected);
  });
});

describe("a transcript that a hook on Windows reports with slashes", () => {
  let replay: Replay | undefined;
  afterEach(() => replay?.remove());

  test("is stored with the name that the agent's reader gives it", async () => {
    replay = new Replay("claude-code", "basic", { withTranscripts: false });
    const [call] = replay.calls;
    if (call === undefined) throw new Error("the recording is empty");
    replay.put({ ...call, stdin: { ...call.stdin, transcript_path: "C:/Users/dev/.claude/projects/s.jsonl" } });
    await replay.drain({}, { platform: "win32" });
    const db = openDatabase(replay.places.storePath);
    const stored = db.prepare("SELECT transcript_path FROM sessions").all();
    db.close();
    expect(stored).toEqual([{ transcript_path: "C:\\Users\\dev\\.claude\\projects\\s.jsonl" }]);
  });
});
