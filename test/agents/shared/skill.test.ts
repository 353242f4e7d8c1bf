import { expect, test } from "vitest";
import { skillOf } from "#agents/shared/names/skill.ts";

test.each([
  ["Skill", { skill: "audit" }, "audit"],
  ["Skill", { command: "/audit" }, "audit"],
  ["Skill", { skill: "acme:release-notes", args: "secret" }, "acme:release-notes"],
  ["skill", { name: "überblick" }, "überblick"],
  ["activate_skill", { name: "audit" }, "audit"],
  ["load_skill", { name: "audit" }, "audit"],
  ["use_skill", { skill_name: "audit" }, "audit"],
  ["Skill", { skill: "read my secret plans" }, undefined],
  ["Skill", { skill: "/home/dev/secret" }, undefined],
  ["Skill", { skill: "a".repeat(129) }, undefined],
  ["Skill", { skill: 7 }, undefined],
  ["Skill", undefined, undefined],
  ["Bash", { name: "audit", command: "audit" }, undefined],
  ["mcp__x__skill", { name: "audit" }, undefined],
])("%s %j loads %s", (tool, input, name) => {
  expect(skillOf(tool, input)).toBe(name);
});
