import type { Rule } from "./rule.ts";

/** Personal data; each kind has its own setting. */
export const EMAIL_RULE: Rule = {
  id: "email",
  hints: ["@"],
  falsePositives: "address",
  pattern: "[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\\.[A-Za-z0-9-]{1,63}){0,8}\\.[A-Za-z]{2,24}",
};

/** User names in paths. */
export const HOME_RULES: readonly Rule[] = [
  {
    id: "user",
    hints: ["/home/", "/Users/"],
    falsePositives: "home",
    pattern: "((?:^|[^A-Za-z0-9._~-])/(?:home|Users)/)([^/ \\t\\r\\n\"'`:;,<>|()\\\\?*]{1,64})",
  },
  {
    id: "user",
    hints: [":\\"],
    ignoreCase: true,
    falsePositives: "home",
    pattern: "([A-Z]:[\\\\]{1,4}Users[\\\\]{1,4})([^/\\\\ \\t\\r\\n\"'`:;,<>|()?*]{1,64})",
  },
  {
    // Claude Code names its project folders after paths, with dashes instead of slashes
    id: "user",
    hints: ["-home-", "-Users-"],
    falsePositives: "home",
    pattern: "((?:^|[/ \"'`])-(?:home|Users)-)([A-Za-z0-9_]{1,64})",
  },
];
