import { expect, test } from "vitest";
import { adapter } from "#agents/droid/adapter.ts";
import droid from "#agents/droid/installer.ts";

const { toEvents } = adapter;

// From the documentation: no recording has one
const payload = {
  session_id: "0a6c8fd0-3c5b-4c9e-9d6a-3f7d0b7b9f11",
  hook_event_name: "PreCompact",
  transcript_path: "/home/dev/.factory/sessions/-home-dev-acme-shop/0a6c8fd0-3c5b-4c9e-9d6a-3f7d0b7b9f11.jsonl",
  cwd: "/home/dev/acme-shop",
  trigger: "auto",
  custom_instructions: "",
};

test("the installer registers compactions", () => {
  const text = droid.managed?.add("{}", ({ source }) => `/opt/openhook-otel/hook ${source}`, {
    platform: "linux",
    programFolder: "/opt/openhook-otel",
  });
  expect(Object.keys(JSON.parse(text ?? "{}").hooks)).toContain("PreCompact");
});

test("two compactions of a session are two events, and one that is repeated is one", () => {
  const [first, second, repeated] = [1000, 2000, 2000].flatMap((timeMs) =>
    toEvents(payload, { source: "droid", timeMs, env: {}, payloadBytes: 320, truncated: false }),
  );
  expect(first?.type).toBe("compaction");
  expect(first?.id).not.toBe(second?.id);
  expect(repeated?.id).toBe(second?.id);
});
