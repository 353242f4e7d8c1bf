import { expect, test } from "vitest";
import type { SessionView } from "#show/report/session-view.ts";
import { RecentDocuments } from "#show/view/recent-documents.ts";

test("a response is known until the session changes", () => {
  const recent = new RecentDocuments();
  recent.keep("session 1", "before", "{}");
  expect(recent.body("session 1", "before")).toBe("{}");
  expect(recent.body("session 1", "after")).toBe(undefined);
  expect(recent.body("session 2", "before")).toBe(undefined);
  recent.keep("session 1", "after", "[]");
  expect(recent.body("session 1", "before")).toBe(undefined);
  expect(recent.body("session 1", "after")).toBe("[]");
});

test("the least recently used response is dropped, so that memory stays limited", () => {
  const recent = new RecentDocuments();
  const large = "x".repeat(7_000_000);
  for (const key of ["a", "b", "c"]) recent.keep(key, "tag", large);
  expect(recent.body("a", "tag")).toBe(large);
  recent.keep("d", "tag", large);
  expect(["a", "b", "c", "d"].filter((key) => recent.body(key, "tag") !== undefined)).toEqual(["a", "c", "d"]);
  recent.keep("e", "tag", "x".repeat(25_000_000));
  expect(recent.body("e", "tag")).toBe(undefined);
  expect(recent.body("a", "tag")).toBe(large);
});

test("a session and its explanation share one view of it", () => {
  const recent = new RecentDocuments();
  const first = { turns: 1 } as SessionView;
  let built = 0;
  const build = (): SessionView => {
    built++;
    return first;
  };
  expect([recent.view("session 1", build), recent.view("session 1", build)]).toEqual([first, first]);
  expect(built).toBe(1);
  recent.view("session 1, changed", build);
  expect(built).toBe(2);
});
