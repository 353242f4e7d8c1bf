import type { Rule } from "./rule.ts";

/** A rule for a command's argument: `pattern` matches the text before the argument. */
const argumentAfter = (id: string, hints: readonly string[], pattern: string, value = SHELL_WORD): Rule => ({
  id,
  hints,
  pattern: `(${pattern}["']?)(${value})`,
});
const SHELL_WORD = "[^ \\t\\r\\n\"'|&;<>\\\\-][^ \\t\\r\\n\"'|&;<>\\\\]{3,}";
const WITHIN = "[^\\n|&;]{0,200}";

/** Rules for single programs, because other programs use the same option names for ports and paths. */
export const COMMANDS: readonly Rule[] = [
  argumentAfter(
    "password",
    ["login"],
    `(?:docker|podman|nerdctl|helm|oras|az|oc|cf) [^\\n|&;]{0,60}login${WITHIN} -p[ =]{1,2}`,
  ),
  argumentAfter("password", ["mongo"], `mongo(?:sh|dump|restore|export|import)? ${WITHIN}-p {1,2}`),
  argumentAfter("password", ["sqlcmd", "bcp "], `(?:sqlcmd|bcp) ${WITHIN}-P ?`),
  argumentAfter("password", ["redis-cli"], `redis-cli ${WITHIN}-a {1,2}`),
  argumentAfter("password", ["ldap"], `ldap(?:search|modify|add|delete|whoami|passwd) ${WITHIN}-w {1,2}`),
  argumentAfter("password", ["zip "], `zip ${WITHIN}-P ?`),
  argumentAfter("password", ["7z"], `7z[a-z]{0,2} ${WITHIN} -p`),
  argumentAfter("password", ["htpasswd"], "htpasswd -[A-Za-z]{0,5}b[A-Za-z]{0,5} [^ \\n]{1,200} [^ \\n]{1,100} "),
  argumentAfter(
    "password",
    ["htpasswd"],
    "htpasswd -[A-Za-z]{0,5}(?:n[A-Za-z]{0,5}b|b[A-Za-z]{0,5}n)[A-Za-z]{0,5} [^ \\n]{1,100} ",
  ),
  argumentAfter("password", ["--password-stdin"], "--password-stdin {0,2}<<< {0,2}"),
  argumentAfter("password", ["net use"], "net use (?:[A-Za-z*]:? {1,2})?\\\\\\\\[^ \\n]{1,200} {1,2}"),
  argumentAfter("password", ["openssl"], `openssl ${WITHIN} -k {1,2}`),
  argumentAfter("password", ["rclone obscure"], "rclone obscure {1,2}"),
  argumentAfter(
    "password",
    ["smbclient", "rpcclient", "smbget"],
    `(?:smbclient|rpcclient|smbget) ${WITHIN}-U {0,2}["']?[^ %"']{1,60}%`,
  ),
  argumentAfter("password", ["pass:"], "-pass(?:in|out)?[ =]pass:"),
  argumentAfter("password", ["psk="], "psk="),
  argumentAfter("password", ["storepass", "keypass"], "-[a-z]{0,4}(?:storepass|keypass) {1,3}"),
  argumentAfter("password", ["ConvertTo-SecureString"], "ConvertTo-SecureString {1,3}(?:-String {1,3})?"),
  argumentAfter(
    "password",
    ["machine"],
    "machine[ \\t]{1,4}[^ \\t\\r\\n]{1,200}[ \\t\\r\\n]{1,8}login[ \\t]{1,4}[^ \\t\\r\\n]{1,200}[ \\t\\r\\n]{1,8}password[ \\t]{1,4}",
  ),
  // Names of secrets, then values: the rest of the line
  {
    id: "secret",
    hints: ["secrets set ", "secrets import ", "vault kv put ", "vault write ", "kv patch "],
    pattern:
      "((?:(?:fly|flyctl|supabase|doppler|railway|deno|sst) secrets (?:set|import)|vault (?:kv put|kv patch|write) [^ \\n]{1,200}) )([^\"'\\r\\n|&;\\\\]{3,})",
  },
  {
    id: "secret",
    hints: ["secrets set ", "vault kv put ", "vault write ", "kv patch "],
    pattern:
      "((?:secrets set|vault (?:kv put|kv patch|write)) [^\\r\\n|&;]{0,200}[A-Za-z0-9_]=[\\\\]{0,3}[\"'])([^\"'\\r\\n\\\\]{3,})",
  },
  {
    id: "secret",
    hints: ["secret-string", "secret-binary"],
    pattern:
      "(--secret-(?:string|binary)[ =]{1,3})(\"(?:[^\"\\\\\\r\\n]|\\\\[^\\r\\n]){3,}|'[^'\\r\\n]{3,}|[^ \\t\\r\\n\"'|&;]{4,})",
  },
  argumentAfter("secret", ["put-parameter"], `put-parameter ${WITHIN}--value[ =]{1,2}`),
  argumentAfter("secret", ["keyvault secret set"], `keyvault secret set ${WITHIN}--value[ =]{1,2}`),
  argumentAfter("secret", ["user-secrets set"], "user-secrets set [\"']?[A-Za-z0-9:_.-]{1,100}[\"']? {1,2}"),
  argumentAfter("secret", ["secret ", "secrets "], `secrets? (?:put|set|create|add|versions add)${WITHIN} <<< {0,2}`),
  // A value that is piped into a command which takes a secret
  {
    id: "secret",
    hints: ["echo ", "printf "],
    pattern:
      "((?:echo(?: -n)?|printf(?: [\"']?%s[\"']?)?) {1,3}[\"']?)([^ \\t\\r\\n\"'|$]{4,200})[\"']? {0,3}[|] {0,3}[^\\n|;&]{0,80}(?:secret|login|passphrase|passwd|env add|--with-token|stdin-token|cryptsetup|ssh-add)",
  },
  argumentAfter("password", ["net user "], "net user [^ \\n]{1,60} {1,2}"),
  argumentAfter("password", ["cmdkey"], `cmdkey ${WITHIN}/pass:`),
  argumentAfter("password", ["nmcli"], `nmcli ${WITHIN}(?:password|psk) {1,2}`),
  argumentAfter("password", ["wpa_passphrase"], "wpa_passphrase [^ \\n]{1,100} {1,2}"),
  argumentAfter("password", ["sqlplus"], `sqlplus ${WITHIN}[A-Za-z0-9_]{1,60}/`, "[^ \\t\\r\\n\"'@/]{3,}"),
  argumentAfter("password", ["http "], `http ${WITHIN}(?:-a|--auth)[ =]{1,2}[^ \\n:]{1,100}:`),
  argumentAfter("password", ["twine"], `twine upload ${WITHIN}-p {1,2}`),
  argumentAfter("password", ["http-basic."], "http-basic\\.[A-Za-z0-9.-]{1,100} [^ \\n]{1,100} {1,2}"),
  argumentAfter("token", ["pypi-token."], "pypi-token\\.[A-Za-z0-9-]{1,60} {1,2}"),
  argumentAfter("api-key", ["nuget"], `nuget ${WITHIN}(?:-k|-ApiKey|--api-key) {1,2}`),
  // What a command prints that shows a secret
  {
    id: "secret",
    hints: [
      "printenv ",
      "echo ",
      "pass show ",
      "op read ",
      "vault kv get ",
      "vault read ",
      "SecretString",
      "find-generic-password ",
      "print-access-token",
      "jsonpath",
      "keyvault secret show",
    ],
    pattern:
      "((?:printenv [A-Z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|PASS|KEY|_PAT|CREDENTIALS?|AUTH)(?:_[A-Z0-9_]{1,20})?|echo [\"']?[$%][{]?(?:env:)?[A-Z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|PASS|KEY|_PAT|CREDENTIALS?|AUTH)(?:_[A-Z0-9_]{1,20})?[}%]?[\"']?|pass show [^\\r\\n]{1,100}|op read [^\\r\\n]{1,200}|vault (?:kv get|read) -field[^\\r\\n]{1,200}|SecretString[^\\r\\n]{0,60}|find-generic-password [^\\r\\n]{0,100}-w|print-access-token|jsonpath=[^\\r\\n]{1,100}base64 (?:-d|-D|--decode)|keyvault secret show [^\\r\\n]{1,200})[ \\t]{0,4}[\\r\\n]{1,2})([^ \\t\\r\\n\"'\\\\]{6,})",
  },
  argumentAfter("secret", ["gh secret set"], `gh secret set${WITHIN} (?:--body|-b)[ =]?`),
  argumentAfter("secret", ["--from-literal"], "--from-literal[ =]{1,2}[\"']?[A-Za-z0-9_.-]{1,100}="),
  argumentAfter("token", ["_auth"], "_auth(?:Token)? {1,3}", "[A-Za-z0-9_.=+/-]{16,}"),
  argumentAfter("secret", ["aws_se"], "aws_(?:secret_access_key|session_token) {1,3}", "[A-Za-z0-9_.=+/-]{16,}"),
  argumentAfter(
    "token",
    [" login ", "authtoken ", "snyk auth "],
    "(?:(?:wandb|cargo|vault) login|add-authtoken|ngrok authtoken|snyk auth) {1,3}",
    "[A-Za-z0-9_.-]{16,}",
  ),
  argumentAfter("token", ["TF_TOKEN_"], "TF_TOKEN_[A-Za-z0-9_]{1,60}="),
  argumentAfter("token", ["_PAT"], "[A-Z0-9]_PAT[\"']?[ ]?[:=] ?", "[A-Za-z0-9_:/.-]{16,}"),
  argumentAfter("token", ["_SESSION"], "[A-Z0-9]_SESSION[\"']?[ ]?[:=] ?", "[A-Za-z0-9+/]{40,}={0,2}"),
  argumentAfter("token", ["sonar.login"], "sonar\\.login="),
  argumentAfter("token", ["npmAuthIdent"], "npmAuthIdent[\"']?: ?[\"']?[^:\"' ]{1,100}:"),
  argumentAfter("token", ['"auth"'], '"auth" ?: ?', "[A-Za-z0-9+/]{16,}={0,2}"),
  // HTTP headers for a backend, which can contain credentials under any name
  {
    id: "token",
    hints: ["_OTLP_"],
    pattern: "(OTEL_EXPORTER_OTLP_(?:[A-Z]{1,10}_)?HEADERS[\"']?[ ]?[:=] ?[\"'])([^\\r\\n\"'\\\\]{1,})",
  },
  {
    id: "token",
    hints: ["_OTLP_"],
    pattern: "(OTEL_EXPORTER_OTLP_(?:[A-Z]{1,10}_)?HEADERS[\"']?[ ]?[:=] ?)([^ \\t\\r\\n\"'\\\\]{1,})",
  },
  // A word in capitals followed by its value, without `=` or `:` in between
  argumentAfter(
    "secret",
    ["ENV ", "ARG ", "setenv ", "setx ", "set -"],
    "(?:ENV|ARG|setenv|setx|set -[gUx]{1,3}) {1,3}[A-Z0-9_]{0,60}(?:TOKEN|SECRET|PASSWORD|PASSWD|_KEY|_PAT) {1,3}",
    "[^ \\t\\r\\n\"'=$]{6,}",
  ),
  {
    id: "secret",
    hints: ["define("],
    pattern:
      "(define\\( {0,2}[\"'][A-Z0-9_]{0,60}(?:PASSWORD|SECRET|TOKEN|KEY|SALT)[\"'] {0,2}, {0,2}[\"'])([^\"'\\r\\n]{4,})",
  },
  // Lists of names and values
  {
    id: "secret",
    hints: ["value"],
    ignoreCase: true,
    falsePositives: "assigned",
    pattern:
      "((?:name|key)[\"']?[ \\t]{0,4}[:=][ \\t]{0,4}[\"']?[A-Za-z0-9_.-]{0,60}(?:password|passwd|secret|token|api_?key|access_?key|private_?key)(?:_[a-z0-9_]{0,20})?[\"']?[ \\t\\r\\n,]{1,40}[\"']?value[\"']?[ \\t]{0,4}[:=][ \\t]{0,4}[\"']?)([^ \\t\\r\\n\"',{}]{4,})",
  },
  {
    id: "secret",
    hints: ['"value"'],
    ignoreCase: true,
    pattern:
      '("value"[ ]?:[ ]?")([^"\\\\\\r\\n]{4,1000})",[ \\t\\r\\n]{0,40}"name"[ ]?:[ ]?"[A-Za-z0-9_.-]{0,60}(?:password|passwd|secret|token|api_?key|access_?key|private_?key)"',
  },
  // YAML block scalars; only the first line of longer ones
  {
    id: "secret",
    hints: [":|", ": |", ":>", ": >"],
    ignoreCase: true,
    pattern:
      "((?:password|passphrase|secret|token|api[_-]?key|access[_-]?key)[\"']?:[ ]?[|>][+-]?[ \\t]{0,4}[\\r\\n]{1,2}[ \\t]{1,40})([^ \\t\\r\\n\"'\\\\][^\\r\\n\"'\\\\]{5,})",
  },
  {
    id: "password",
    hints: ["sudo -S"],
    pattern: "(echo {1,3}[\"']?)([^ \\t\\r\\n\"'|$]{1,200})[\"']? {0,3}[|] {0,3}sudo -S",
  },
  {
    id: "password",
    hints: ["chpasswd"],
    pattern:
      "((?:echo|printf)[^\\n|&;]{1,40}[\"' ][^ \\t\\r\\n:\"'|]{1,60}:)([^ \\t\\r\\n\"'|$\\\\]{1,200})[^|\\n]{0,10}[|] {0,3}(?:sudo )?chpasswd",
  },
  {
    id: "password",
    hints: ["--proxy"],
    pattern: "(--proxy[ =][\"']?[^ \\t\\r\\n:\"'/@]{1,100}:)([^ \\t\\r\\n@\"'/]{1,200})@",
  },
  {
    id: "password",
    hints: ["jdbc:oracle"],
    pattern: "(jdbc:oracle:[a-z]{1,6}:[^/ \\t\\r\\n\"']{1,100}/)([^@ \\t\\r\\n\"'/]{1,200})@",
  },
  {
    id: "private-key",
    hints: ["Private-Lines"],
    pattern: "(Private-Lines: [0-9]{1,4}[\\r\\n]{1,2})([A-Za-z0-9+/=\\r\\n]{40,})",
  },
  {
    id: "password",
    hints: ["pass"],
    ignoreCase: true,
    falsePositives: "assigned",
    pattern: "((?:^|[ \\t\\r\\n{,\"'])pass[\"']?[ ]{0,3}(?:=|:)[ ]{0,3}[\"'])([^\"'\\r\\n]{4,})",
  },
];
