import type { Rule } from "./rule.ts";

/** A value with letters and digits, so that no word and no count is meant. */
const MIXED =
  "[^ \\t\\r\\n\"'`|,;(){}]{0,60}[A-Za-z][^ \\t\\r\\n\"'`|,;(){}]{2,60}[0-9][^ \\t\\r\\n\"'`|,;(){}]{0,}|[^ \\t\\r\\n\"'`|,;(){}]{0,60}[0-9][^ \\t\\r\\n\"'`|,;(){}]{2,60}[A-Za-z][^ \\t\\r\\n\"'`|,;(){}]{0,}";
const NAMES =
  "(?:password|passwd|passphrase|secret|token|api[_ -]?key|access[_ -]?key|secret[_ -]?access[_ -]?key|session[_ -]?token)";

/** Values without a sign between name and value: their place says what they are. */
export const PLACED: readonly Rule[] = [
  // .pgpass: host, port, database, user
  {
    id: "password",
    hints: [":"],
    pattern:
      "((?:^|[ \\t\\r\\n\"'])[A-Za-z0-9.*-]{1,253}:(?:[0-9]{4,5}|[*]):(?:[*]|[A-Za-z_][^: \\t\\r\\n]{0,62}):[^: \\t\\r\\n]{1,63}:)([^ \\t\\r\\n\"':]{1,})",
  },
  // The CSV that a cloud console offers: the id of the key, its secret
  {
    id: "aws-key",
    hints: ["AKIA", "ASIA"],
    pattern: "((?:AKIA|ASIA)[A-Z0-9]{16,}[\"']?[, \\t]{1,4}[\"']?)([A-Za-z0-9/+]{30,}={0,2})",
  },
  {
    id: "password",
    hints: ["pass"],
    ignoreCase: true,
    pattern: `((?:^|[\\r\\n])[ \\t]{0,8}pass ?= ?)(${MIXED})`,
  },
  {
    id: "password",
    hints: ["bindpw", "rootpw"],
    pattern: "((?:bindpw|rootpw)[ \\t]{1,8}[\"']?)([^ \\t\\r\\n\"']{4,})",
  },
  // LDIF: two colons before base64
  {
    id: "password",
    hints: ["password::"],
    ignoreCase: true,
    pattern: "(password:: ?)([A-Za-z0-9+/=]{4,})",
  },
  // SQL
  {
    id: "password",
    hints: ["identified"],
    ignoreCase: true,
    pattern:
      "(identified (?:with [a-z0-9_\"'`]{1,60} )?(?:by|as) (?:password )?[\\\\]{0,3}[\"'])([^\"'\\r\\n\\\\]{1,})",
  },
  {
    id: "password",
    hints: ["password"],
    ignoreCase: true,
    ordinary: "assigned",
    pattern: "(password[ \\t]{0,4}(?:\\( ?|[ \\t])[\\\\]{0,3}')([^'\\r\\n\\\\]{4,})",
  },
  // Calls of setters
  {
    id: "secret",
    hints: ["password(", "passwd(", "passphrase(", "secret(", "token(", "apikey("],
    ignoreCase: true,
    ordinary: "assigned",
    pattern:
      "(set_?[a-z_]{0,20}(?:password|passwd|passphrase|secret|token|apikey)\\([\\\\]{0,3}[\"'])([^\"'\\r\\n\\\\]{4,})",
  },
  // expect
  { id: "password", hints: ["send "], pattern: '(send (?:-- )?")([^"\\r\\n\\\\$]{4,})\\\\{1,3}[rn]"' },
  // Tables with the name before the value
  {
    id: "secret",
    hints: ["pass", "secret", "token", "key"],
    ignoreCase: true,
    pattern: `((?:^|[\\r\\n|│][ \\t]{0,8})[a-z0-9_.-]{0,40}${NAMES}(?:[ \\t]{2,60}|[ \\t]{0,60}[|│][ \\t]{0,60}))(${MIXED})`,
  },
  // In prose to an agent
  {
    id: "password",
    hints: ["pass", "kennwort"],
    ignoreCase: true,
    ordinary: "assigned",
    pattern: `((?:the|this|my|our|with|use|using|das|mein|dem|mit) (?:password|passphrase|passwort|kennwort) ["'\`]?)(${MIXED})`,
  },
];
