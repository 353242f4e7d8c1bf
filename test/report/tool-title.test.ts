import { expect, test } from "vitest";
import { toolTitle } from "#show/report/titles.ts";

test.each([
  ["mcp__tracker__find_issue", undefined, "tracker: find_issue"],
  ["mcp__tracker__find_issue", "tracker", "tracker: find_issue"],
  ["tracker__find_issue", "tracker", "tracker: find_issue"],
  ["mcp__my__server__list__all", "my__server", "my__server: list__all"],
  // Agents replace characters of the server's name in the tool's
  ["mcp__issue_tracker__find", "issue tracker", "issue tracker: find"],
  ["use_mcp_tool", "tracker", "use_mcp_tool"],
  ["Bash ls", undefined, "Bash ls"],
  ["mcp__tracker__", undefined, "mcp__tracker__"],
  ["__proto__", undefined, "__proto__"],
])("%s of %s is called %s", (name, server, title) => expect(toolTitle(name, server)).toBe(title));
