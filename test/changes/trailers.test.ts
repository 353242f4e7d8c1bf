// Trailers of commits' messages: the same as git finds, and the ids of tickets in them
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { ticketsInTrailers, trailersOf } from "#changes/git/trailers.ts";

const PATTERN = "[A-Z][A-Z0-9]+-\\d+";

const MESSAGES: Readonly<Record<string, readonly [message: string, ...tickets: readonly string[]]>> = {
  "one trailer": ["Price with tax\n\nRefs: SHOP-12\n", "SHOP-12"],
  "several, also on one line": [
    "Price\n\nText.\n\nRefs: SHOP-12, SHOP-13\nCloses: API-1\n",
    "SHOP-12",
    "SHOP-13",
    "API-1",
  ],
  "a title that looks like one": ["fix: SHOP-12 price\n"],
  "a title of two lines": ["fix: SHOP-12 price\nRefs: SHOP-13\n"],
  "text in the body": ["Price\n\nSee SHOP-12 and\nRefs: SHOP-13\n"],
  "a paragraph after it": ["Price\n\nRefs: SHOP-12\n\nMore text.\n"],
  "text beside a line of git": ["Price\n\nSee SHOP-12.\nRefs: SHOP-13\nSigned-off-by: A <a@example.com>\n", "SHOP-13"],
  "a quarter of the lines, one of git": [
    `Price\n\nRefs: SHOP-13\nSigned-off-by: A <a@example.com>\n${"Text.\n".repeat(6)}`,
    "SHOP-13",
  ],
  "fewer of the lines, one of git": [
    `Price\n\nRefs: SHOP-13\nSigned-off-by: A <a@example.com>\n${"Text.\n".repeat(7)}`,
  ],
  "a commit that was picked": [`Price\n\nRefs: SHOP-13\n(cherry picked from commit ${"a".repeat(40)})\n`, "SHOP-13"],
  "a value on two lines": ["Price\n\nRefs: SHOP-12,\n  SHOP-13\n", "SHOP-12", "SHOP-13"],
  "a person": ["Price\n\nCo-authored-by: SHOP-12 <shop-12@example.com>\n"],
  "names of standards": ["Price\n\nRefs: UTF-8 SHA-256\n"],
  "no message": [""],
};

test.each(Object.entries(MESSAGES))("%s", (_, [message, ...tickets]) => {
  const trailers = trailersOf(message);
  expect(ticketsInTrailers(trailers, PATTERN)).toEqual(tickets);
  const git = spawnSync("git", ["interpret-trailers", "--parse", "--no-divider"], { input: message, encoding: "utf8" });
  const lines = trailers.map(({ name, value }) => `${name}: ${value.replaceAll(/\s+/g, " ")}`);
  expect(lines).toEqual(git.stdout.split("\n").filter((line) => line !== "" && !line.startsWith("(")));
});
