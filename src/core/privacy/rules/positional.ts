import type { Rule } from "./rule.ts";

/** A value with letters and digits, so that plain words and numbers do not match. */
const MIXED =
  "[^ \\t\\r\\n\"'`|,;(){}]{0,60}[A-Za-z][^ \\t\\r\\n\"'`|,;(){}]{2,60}[0-9][^ \\t\\r\\n\"'`|,;(){}]{0,}|[^ \\t\\r\\n\"'`|,;(){}]{0,60}[0-9][^ \\t\\r\\n\"'`|,;(){}]{2,60}[A-Za-z][^ \\t\\r\\n\"'`|,;(){}]{0,}";
const SECRET_NAMES =
  "(?:password|passwd|passphrase|secret|token|api[_ -]?key|access[_ -]?key|secret[_ -]?access[_ -]?key|session[_ -]?token)";

/** A password in a sentence of English, German, French or Spanish; what may follow; and `to`, `is` and the like. */
const SPOKEN =
  "(?:pass(?:word|phrase|code|wort)|kennwort|mot de passe|contrase[nñ]a|clave|api[ -]key|access[ -](?:token|key)|secret(?: key)?)";
const SPOKEN_HINTS = ["pass", "kennwort", "contrase", "clave", "key", "token", "secret"];
const FILLER = "(?: [^ \\t\\r\\n\"'`.,;:()]{1,30}){0,5}";
const LINK =
  "(?:to|is|was|be|as|into|becomes|now|auf|ist|war|lautet|heißt|heisst|zu|wird|est|sera|devient|à|en|par|es|era|será|por|a|ahora)";

/** Values that follow no `=` or `:`. Their position shows that they are secrets. */
export const POSITIONAL: readonly Rule[] = [
  // .pgpass: host, port, database, user, password
  {
    id: "password",
    hints: [":"],
    pattern:
      "((?:^|[ \\t\\r\\n\"'])[A-Za-z0-9.*-]{1,253}:(?:[0-9]{4,5}|[*]):(?:[*]|[A-Za-z_][^: \\t\\r\\n]{0,62}):[^: \\t\\r\\n]{1,63}:)([^ \\t\\r\\n\"':]{1,})",
  },
  // CSV file from the AWS console: key id, then secret key
  {
    id: "aws-key",
    hints: ["AKIA", "ASIA"],
    pattern: "((?:AKIA|ASIA)[A-Z0-9]{16}[\"']?[, \\t]{1,4}[\"']?)([A-Za-z0-9/+]{30,}={0,2})",
  },
  {
    id: "password",
    hints: ["pass"],
    pattern: `((?:^|[\\r\\n{,"'])[ \\t-]{0,12}pass ?[=:] ?)(${MIXED})`,
  },
  {
    id: "password",
    hints: ["bindpw", "rootpw"],
    pattern: "((?:bindpw|rootpw)[ \\t]{1,8}[\"']?)([^ \\t\\r\\n\"']{4,})",
  },
  // LDIF: two colons before a base64 value
  {
    id: "password",
    hints: ["password::"],
    ignoreCase: true,
    pattern: "(password:: ?)([A-Za-z0-9+/=]{4,})",
  },
  // SQL: `IDENTIFIED BY '…'`, `PASSWORD '…'`
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
    falsePositives: "assigned",
    pattern: "(password[ \\t]{0,4}(?:\\( ?|[ \\t])[\\\\]{0,3}')([^'\\r\\n\\\\]{4,})",
  },
  // Calls of setters: `setPassword("…")`
  {
    id: "secret",
    hints: ["password(", "passwd(", "passphrase(", "secret(", "token(", "apikey("],
    ignoreCase: true,
    falsePositives: "assigned",
    pattern:
      "(set_?[a-z_]{0,20}(?:password|passwd|passphrase|secret|token|apikey)\\([\\\\]{0,3}[\"'])([^\"'\\r\\n\\\\]{4,})",
  },
  // Scripts for expect: `send "…\r"`
  { id: "password", hints: ["send "], pattern: '(send (?:-- )?")([^"\\r\\n\\\\$]{4,200})\\\\{1,3}[rn]"' },
  // Rows of tables: the name in one column, the value in the next
  {
    id: "secret",
    hints: ["pass", "secret", "token", "key"],
    ignoreCase: true,
    pattern: `((?:^|[\\r\\n|│][ \\t]{0,8})[a-z0-9_.-]{0,40}${SECRET_NAMES}(?:[ \\t]{2,60}|[ \\t]{0,60}[|│][ \\t]{0,60}))(${MIXED})`,
  },
  // Prompts: `use the password …`
  {
    id: "password",
    hints: SPOKEN_HINTS,
    ignoreCase: true,
    falsePositives: "spoken",
    pattern: `((?:the|this|my|our|new|with|use|using|das|mein|dem|mit|neue[sn]?|le|mon|ton|nouveau|avec|la|mi|tu|su|nueva|con) ${SPOKEN} ["'\`]?)(${MIXED})`,
  },
  // Sentences: `changed the password for root to …`
  {
    id: "password",
    hints: SPOKEN_HINTS,
    ignoreCase: true,
    falsePositives: "spoken",
    pattern: `(${SPOKEN}${FILLER} ${LINK}[ :]{1,3}["'\`«„“]?)(${MIXED}|[^ \\t\\r\\n"'\`|,;(){}]{2,60}[!#$%^&*][^ \\t\\r\\n"'\`|,;(){}]{2,})`,
  },
  {
    id: "password",
    hints: SPOKEN_HINTS,
    ignoreCase: true,
    falsePositives: "spoken",
    pattern: `(${SPOKEN}${FILLER} ${LINK}[ :]{1,3}["'\`«„“])([^"'\`»“”\\r\\n]{4,})`,
  },
];
