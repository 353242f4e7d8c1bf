/**
 * One kind of secret. `pattern` means the same to RE2 (Go, the Collector) and to JavaScript with `u`: no look-around, no
 * back references, no class whose members differ (`\s`, `\w`, `.`), nothing that starts anew inside what it has read.
 * Each begins with a literal or reads a bounded number of characters before one; what is unbounded stands at its end and
 * cannot fail, so that a text is read in linear time.
 */
export interface Rule {
  /** What stands in the marker: `[redacted:<id>]`. */
  readonly id: string;
  /** Where it has groups, the second goes and the first, at the beginning, stays. Without groups all of it goes. */
  readonly pattern: string;
  /** Letters in either case: `(?i)` in RE2. */
  readonly ignoreCase?: true;
  /** One of these is in every text that the pattern matches; in lower case where case does not matter. */
  readonly hints: readonly string[];
  /** Values that are none: types, references to a variable, calls. */
  readonly ordinary?: "assigned" | "home" | "address";
}

/** What a value can begin behind: nothing, or no letter. It stays. */
const BEFORE = "(^|[^A-Za-z])";

const token = (id: string, hints: readonly string[], pattern: string): Rule => ({ id, hints, pattern });
/** The same where a shorter word could end in the prefix: `task-…` is no `sk-…`. */
const word = (id: string, hints: readonly string[], pattern: string): Rule => ({
  id,
  hints,
  pattern: `${BEFORE}(${pattern})`,
});

/** What less known services put before theirs. */
const SERVICES: readonly (readonly [hint: string, pattern: string])[] = [
  ["pul-", "pul-[a-f0-9]{40}"],
  ["nfp_", "nfp_[A-Za-z0-9]{36,}"],
  ["rnd_", "rnd_[A-Za-z0-9]{24,}"],
  ["dp.", "dp\\.(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{1,30}\\.)?[A-Za-z0-9]{40,}"],
  ["fm1", "fm1[ar]?_[A-Za-z0-9+/=_]{60,}"],
  ["fm2_", "fm2_[A-Za-z0-9+/=_]{60,}"],
  ["hcaik_", "hcaik_[a-z0-9]{50,}"],
  ["bkua_", "bkua_[a-f0-9]{40}"],
  ["sqa_", "sqa_[a-f0-9]{40}"],
  ["sqp_", "sqp_[a-f0-9]{40}"],
  ["squ_", "squ_[a-f0-9]{40}"],
  ["HRKU-", "HRKU-[A-Za-z0-9_-]{36,}"],
  ["sq0", "sq0[a-z]{3}-[A-Za-z0-9_-]{22,}"],
  ["re_", "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"],
  ["crsr_", "crsr_[a-f0-9]{60,}"],
  ["key_", "key_[a-f0-9]{64}"],
  ["pat-", "pat-(?:na|eu)[0-9]-[a-f0-9-]{36}"],
  ["CFPAT-", "CFPAT-[A-Za-z0-9_-]{40,}"],
  ["sl.", "sl\\.[A-Za-z0-9_-]{100,}"],
  ["tfp_", "tfp_[A-Za-z0-9_-]{40,}"],
  ["CCIPAT_", "CCIPAT_[A-Za-z0-9_]{40,}"],
  ["sdk-", "sdk-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"],
  ["access-", "access-(?:sandbox|development|production)-[a-f0-9-]{36}"],
  ["access_token$", "access_token[$][a-z]{1,20}[$][a-z0-9]{16}[$][a-f0-9]{32}"],
  ["tskey-", "tskey-[a-z]{3,10}-[A-Za-z0-9-]{20,}"],
  ["napi_", "napi_[a-z0-9]{40,}"],
  ["APA91b", "[A-Za-z0-9_-]{4,20}:APA91b[A-Za-z0-9_-]{60,}"],
  ["sk.eyJ", "sk\\.eyJ[A-Za-z0-9_-]{20,200}\\.[A-Za-z0-9_-]{20,}"],
  ["-us", "[a-f0-9]{32}-us[0-9]{1,2}"],
  ["00D", "00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{40,}"],
];

/** Prefixes by which their issuers mark them. */
const ISSUED: readonly Rule[] = [
  word("anthropic-key", ["sk-ant-"], "sk-ant-[A-Za-z0-9_-]{12,}"),
  word("openai-key", ["sk-"], "sk-(?:proj|svcacct|admin|service|None|or-v1|lf)-[A-Za-z0-9_-]{12,}"),
  word("openai-key", ["sk-"], "sk-[A-Za-z0-9]{20,}"),
  token(
    "aws-key",
    ["AKIA", "ASIA", "AROA", "AIDA", "AGPA", "AIPA", "ANPA", "ANVA", "ABIA", "ACCA", "A3T"],
    "(?:A3T[A-Z0-9]|AKIA|ASIA|AROA|AIDA|AGPA|AIPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16,}",
  ),
  token("github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "gh[pousr]_[A-Za-z0-9_]{20,}"),
  token("github-token", ["github_pat_"], "github_pat_[A-Za-z0-9_]{20,}"),
  word("gitlab-token", ["gl"], "gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[A-Za-z0-9_.-]{16,}"),
  token("slack-token", ["xox"], "xox[abceoprs](?:\\.xox[bp])?-[A-Za-z0-9-]{10,}"),
  token("slack-token", ["xapp-"], "xapp-[0-9]-[A-Za-z0-9-]{10,}"),
  token(
    "slack-webhook",
    ["hooks.slack.com/"],
    "hooks\\.slack\\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/+-]{16,}",
  ),
  token("discord-webhook", ["/api/webhooks/"], "/api/webhooks/[0-9]{10,}/[A-Za-z0-9_-]{20,}"),
  token("google-key", ["AIza"], "AIza[A-Za-z0-9_-]{30,}"),
  token("google-key", ["GOCSPX-"], "GOCSPX-[A-Za-z0-9_-]{20,}"),
  token("google-token", ["ya29."], "ya29\\.[A-Za-z0-9_-]{16,}"),
  word("hugging-face-token", ["hf_"], "hf_[A-Za-z0-9]{20,}"),
  word("npm-token", ["npm_"], "npm_[A-Za-z0-9]{30,}"),
  word("pypi-token", ["pypi-"], "pypi-[A-Za-z0-9_-]{16,}"),
  token("digitalocean-token", ["_v1_"], "do[opr]_v1_[a-f0-9]{32,}"),
  word("sendgrid-key", ["SG."], "SG\\.[A-Za-z0-9_-]{16,100}\\.[A-Za-z0-9_-]{16,}"),
  token("stripe-key", ["k_live_", "k_test_", "whsec_"], "(?:[prs]k_(?:live|test)|whsec)_[A-Za-z0-9]{10,}"),
  token("shopify-token", ["shp"], "shp(?:at|ca|pa|ss|ua|ppa)_[A-Za-z0-9]{32,}"),
  word("databricks-token", ["dapi"], "dapi[A-Fa-f0-9]{32,}(?:-[0-9])?"),
  word("vault-token", ["hvs.", "hvb.", "hvr."], "hv[bsr]\\.[A-Za-z0-9_-]{20,}"),
  token("linear-key", ["lin_"], "lin_(?:api|oauth)_[A-Za-z0-9_]{20,}"),
  word("notion-token", ["ntn_", "secret_"], "(?:ntn|secret)_[A-Za-z0-9]{40,}"),
  token("figma-token", ["figd_"], "figd_[A-Za-z0-9_-]{20,}"),
  token("postman-key", ["PMAK-"], "PMAK-[a-f0-9]{24}-[a-f0-9]{30,}"),
  token("new-relic-key", ["NRAK-"], "NRAK-[A-Z0-9]{20,}"),
  token("grafana-token", ["glc_", "glsa_"], "gl(?:c|sa)_[A-Za-z0-9+/=_]{20,}"),
  token("sentry-token", ["sntry"], "sntry[su]_[A-Za-z0-9+/=_-]{20,}"),
  token("supabase-token", ["sbp_"], "sbp_[a-f0-9]{40,}"),
  token("planetscale-token", ["pscale_"], "pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{20,}"),
  token("docker-token", ["dckr_"], "dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
  token("atlassian-token", ["ATATT3x", "ATCTT3x", "ATBB"], "(?:AT[AC]TT3x|ATBB)[A-Za-z0-9_=+/.-]{20,}"),
  token("terraform-token", [".atlasv1."], "[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_=-]{40,}"),
  token("artifactory-key", ["AKCp"], "AKCp[A-Za-z0-9]{60,}"),
  token(
    "model-provider-key",
    ["gsk_", "xai-", "pplx-", "tvly-", "r8_", "fw_", "nvapi-", "jina_"],
    "(?:gsk_|xai-|pplx-|tvly-|r8_|fw_|nvapi-|jina_)[A-Za-z0-9_-]{24,}",
  ),
  token("langsmith-key", ["lsv2_"], "lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{8,}"),
  token("age-key", ["AGE-SECRET-KEY-"], "AGE-SECRET-KEY-1[A-Z0-9]{40,}"),
  token("rubygems-key", ["rubygems_"], "rubygems_[a-f0-9]{40,}"),
  token("one-password-token", ["ops_ey"], "ops_ey[A-Za-z0-9_+/=-]{20,}"),
  word("vercel-token", ["vc"], "vc[piark]_[A-Za-z0-9]{20,}"),
  token("mailgun-key", ["key-"], "key-[a-f0-9]{32,}"),
  token("brevo-key", ["xkeysib-"], "xkeysib-[a-f0-9]{40,}"),
  token("dynatrace-token", ["dt0"], "dt0[a-z][0-9]{2}\\.[A-Z0-9]{20,30}\\.[A-Z0-9]{40,}"),
  token("azure-secret", ["Q~"], "[0-9]Q~[A-Za-z0-9_~.-]{30,}"),
  word("telegram-token", [":AA"], "[0-9]{8,12}:AA[A-Za-z0-9_-]{30,}"),
  word("twilio-key", ["SK"], "SK[a-f0-9]{32}"),
  word("aws-key", ["ABSK"], "ABSK[A-Za-z0-9+/]{60,}={0,2}"),
  token("azure-secret", ["AZDO"], "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
  token("gitlab-token", ["GR1348941"], "GR1348941[A-Za-z0-9_-]{20,}"),
  token("grafana-token", ["eyJrIjoi"], "eyJrIjoi[A-Za-z0-9+/=]{40,}"),
  word("google-token", ["1//0"], "1//0[A-Za-z0-9_-]{40,}"),
  word("model-provider-key", ["csk-", "sk_", "pcsk_"], "(?:csk-[a-z0-9]{40,}|sk_[a-f0-9]{40,}|pcsk_[A-Za-z0-9_]{40,})"),
  token("new-relic-key", ["NRII-", "NRAL"], "(?:NRII-[A-Za-z0-9_-]{30,}|[a-f0-9]{36}NRAL)"),
  token("supabase-token", ["sb_secret_"], "sb_secret_[A-Za-z0-9_-]{20,}"),
  word("one-password-token", ["A3-"], "A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-?[A-Z0-9]{5}){1,4}"),
  ...SERVICES.map(([hint, pattern]) => word("service-token", [hint], pattern)),
  token(
    "webhook",
    ["webhook.office.com/", "hooks.zapier.com/", "maker.ifttt.com/"],
    "(?:webhook\\.office\\.com/webhookb2|hooks\\.zapier\\.com/hooks/catch|maker\\.ifttt\\.com/trigger)/[A-Za-z0-9_/@.-]{12,}",
  ),
];

/** One of a command's, behind what says so. */
const behind = (id: string, hints: readonly string[], pattern: string, value = SHELL_WORD): Rule => ({
  id,
  hints,
  pattern: `(${pattern}["']?)(${value})`,
});
const SHELL_WORD = "[^ \\t\\r\\n\"'|&;<>\\\\-][^ \\t\\r\\n\"'|&;<>\\\\]{3,}";
const WITHIN = "[^\\n|&;]{0,300}";

/** Programs whose options for secrets are called like others' for ports and paths. */
const COMMANDS: readonly Rule[] = [
  behind("password", ["login"], `(?:docker|podman|nerdctl|helm|oras|az|oc|cf) ${WITHIN}login${WITHIN} -p[ =]{1,2}`),
  behind("password", ["mongo"], `mongo(?:sh|dump|restore|export|import)? ${WITHIN}-p {1,2}`),
  behind("password", ["sqlcmd", "bcp "], `(?:sqlcmd|bcp) ${WITHIN}-P ?`),
  behind("password", ["redis-cli"], `redis-cli ${WITHIN}-a {1,2}`),
  behind("password", ["ldap"], `ldap(?:search|modify|add|delete|whoami|passwd) ${WITHIN}-w {1,2}`),
  behind("password", ["zip "], `zip ${WITHIN}-P ?`),
  behind("password", ["7z"], `7z[a-z]{0,2} ${WITHIN} -p`),
  behind("password", ["htpasswd"], "htpasswd -[A-Za-z]{0,5}b[A-Za-z]{0,5} [^ \\n]{1,200} [^ \\n]{1,100} "),
  behind("password", ["pass:"], "-pass(?:in|out)?[ =]pass:"),
  behind("password", ["psk="], "psk="),
  behind("password", ["storepass", "keypass"], "-[a-z]{0,4}(?:storepass|keypass) {1,3}"),
  behind("password", ["ConvertTo-SecureString"], "ConvertTo-SecureString {1,3}(?:-String {1,3})?"),
  behind(
    "password",
    ["machine"],
    "machine[ \\t]{1,4}[^ \\t\\r\\n]{1,200}[ \\t\\r\\n]{1,8}login[ \\t]{1,4}[^ \\t\\r\\n]{1,200}[ \\t\\r\\n]{1,8}password[ \\t]{1,4}",
  ),
  behind("secret", ["gh secret set"], `gh secret set${WITHIN} (?:--body|-b)[ =]?`),
  behind("secret", ["--from-literal"], "--from-literal[ =]{1,2}[\"']?[A-Za-z0-9_.-]{1,100}="),
  behind("token", ["_auth"], "_auth(?:Token)? {1,3}", "[A-Za-z0-9_.=+/-]{16,}"),
  behind("secret", ["aws_se"], "aws_(?:secret_access_key|session_token) {1,3}", "[A-Za-z0-9_.=+/-]{16,}"),
  behind(
    "token",
    [" login ", "authtoken ", "snyk auth "],
    "(?:(?:wandb|cargo|vault) login|add-authtoken|ngrok authtoken|snyk auth) {1,3}",
    "[A-Za-z0-9_.-]{16,}",
  ),
  behind("token", ["TF_TOKEN_"], "TF_TOKEN_[A-Za-z0-9_]{1,60}="),
  behind("token", ["_PAT"], "[A-Z0-9]_PAT[\"']?[ ]?[:=] ?", "[A-Za-z0-9_:/.-]{16,}"),
  behind("token", ["_SESSION"], "[A-Z0-9]_SESSION[\"']?[ ]?[:=] ?", "[A-Za-z0-9+/]{40,}={0,2}"),
  behind("token", ["sonar.login"], "sonar\\.login="),
  behind("token", ["npmAuthIdent"], "npmAuthIdent[\"']?: ?[\"']?[^:\"' ]{1,100}:"),
  behind("token", ['"auth"'], '"auth" ?: ?', "[A-Za-z0-9+/]{16,}={0,2}"),
  // What is in these is for one backend, whatever its name
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
  // A word in capitals and its value, without a sign between them
  behind(
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
    ordinary: "assigned",
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
  // Blocks of YAML; of longer ones the first line
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
  // As people say it to an agent. A word with a digit in it: "the password is wrong" says nothing
  {
    id: "password",
    hints: ["password is", "passphrase is", "passwort is", "passwd is", "secret is", "key is"],
    ignoreCase: true,
    pattern:
      "((?:password|passphrase|passwort|passwd|secret|api[ _-]key|access[ _-]key) (?:is|ist)[ :]{1,3}[\"'`]?)([^ \\t\\r\\n\"'`,;()<>]{3,60}[0-9][^ \\t\\r\\n\"'`,;()<>]{0,})",
  },
  {
    id: "password",
    hints: ["pass"],
    ignoreCase: true,
    ordinary: "assigned",
    pattern: "((?:^|[ \\t\\r\\n{,\"'])pass[\"']?[ ]{0,3}(?:=|:)[ ]{0,3}[\"'])([^\"'\\r\\n]{4,})",
  },
];

/** Known by their form. */
const FORMED: readonly Rule[] = [
  {
    id: "private-key",
    hints: ["-----BEGIN"],
    // To the end line, or to the end of a text that was cut before it
    pattern:
      "-----BEGIN[A-Za-z0-9 %+]{1,60}PRIVATE(?: |%20|\\+)KEY[A-Za-z0-9 %+]{0,20}-----[^-]*(?:-[^-]+){0,6}(?:-----END[A-Za-z0-9 %+]{1,80}-----)?",
  },
  {
    id: "private-key",
    hints: ["LS0tLS1CRUdJTi"],
    // Base64 of it: RSA, EC, DSA, OPENSSH, ENCRYPTED or none of these before PRIVATE
    pattern: "LS0tLS1CRUdJTi(?:BQUk|BSU0Eg|BFQy|BEU0Eg|BPUEVOU1NI|BFTkNS)[A-Za-z0-9+/=_-]*",
  },
  {
    id: "jwt",
    hints: [".eyJ"],
    pattern: "eyJ[A-Za-z0-9_-]{8,1000}\\.eyJ[A-Za-z0-9_-]{4,}(?:\\.[A-Za-z0-9_-]*){0,3}",
  },
  // Encrypted ones have five parts, and the second begins like nothing else
  {
    id: "jwt",
    hints: ["eyJ"],
    pattern:
      "(^|[^A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{8,1000}\\.[A-Za-z0-9_-]{16,1000}\\.[A-Za-z0-9_-]{16,}(?:\\.[A-Za-z0-9_-]*){0,2})",
  },
  {
    id: "url-password",
    hints: ["://"],
    pattern: "(://[^ \\t\\r\\n/:@\"'`<>?#]{0,200}:)([^ \\t\\r\\n/\"'`<>]{1,400})@",
  },
  // A token in the place of the user: what stands where the password does is then no secret, or half of one
  {
    id: "url-password",
    hints: ["://"],
    pattern: "(https?://)([^ \\t\\r\\n/:@\"'`<>?#]{16,200}:[^ \\t\\r\\n/@\"'`<>]{0,400})@",
  },
  {
    id: "url-password",
    hints: [":x-oauth-basic@"],
    pattern: "(https?://)([^ \\t\\r\\n/:@\"'`<>?#]{1,200}):x-oauth-basic@",
  },
  {
    id: "url-password",
    hints: ["://"],
    pattern: "(https?://)([^ \\t\\r\\n/:@\"'`<>?#]{16,400})@",
  },
  {
    id: "url-key",
    hints: ["key=", "sig=", "signature=", "code=", "auth=", "sessionid=", "appid="],
    ignoreCase: true,
    pattern: "([?&;](?:x-[a-z]+-)?(?:key|sig|signature|code|auth|sessionid|appid)=)([^ \\t\\r\\n&#\"'`<>]{12,})",
  },
  {
    id: "authorization",
    hints: ["authorization"],
    ignoreCase: true,
    pattern: `(authorization[\\\\]{0,3}["']?[ \\t]{0,4}[:=][ \\t]{0,4}[\\\\]{0,3}["']?(?:basic|bearer|token|digest|apikey|negotiate|hmac|signature|aws4-hmac-sha256|sharedkey|sharedaccesssignature)[ \\t]{1,4})([^\\r\\n"'\`\\\\]{1,})`,
    ordinary: "assigned",
  },
  {
    id: "authorization",
    hints: ["authorization"],
    ignoreCase: true,
    pattern: `(authorization[\\\\]{0,3}["']?[ \\t]{0,4}[:=][ \\t]{0,4}[\\\\]{0,3}["']?)([^ \\t\\r\\n"'\`\\\\,;(){}\\[\\]]{8,})`,
    ordinary: "assigned",
  },
  {
    id: "authorization",
    hints: ["authorization"],
    ignoreCase: true,
    // Schemes of a vendor's own. Words follow a colon in prose as well: of a key one is a digit
    pattern: `(authorization[\\\\]{0,3}["']?[ \\t]{0,4}[:=][ \\t]{0,4}[\\\\]{0,3}["']?[a-z][a-z0-9_-]{1,29} )([^ \\t\\r\\n"'\`\\\\,;(){}\\[\\]]{0,60}[0-9][^ \\t\\r\\n"'\`\\\\,;(){}\\[\\]]{7,})`,
  },
  { id: "authorization", hints: ["SSWS "], pattern: "(SSWS {1,4})([A-Za-z0-9_-]{20,})" },
  {
    id: "authorization",
    hints: ["bearer"],
    ignoreCase: true,
    pattern: "(bearer[ +]{1,4})([A-Za-z0-9_.~+/=-]{16,})",
  },
  {
    id: "authorization",
    hints: ["basic "],
    ignoreCase: true,
    // Words follow "basic" as well: a digit or padding tells base64 from them
    pattern: "(basic {1,4})([A-Za-z+/]{0,200}[0-9][A-Za-z0-9+/]{7,}={0,2}|[A-Za-z0-9+/]{8,400}={1,2})",
  },
  {
    id: "cookie",
    hints: ["cookie"],
    ignoreCase: true,
    pattern: `(cookie2?[\\\\]{0,3}["']?:[ \\t]{0,4}[\\\\]{0,3}["']?[A-Za-z0-9_.-]{1,100}=)([^\\r\\n"'\`\\\\]{1,})`,
  },
  {
    id: "password",
    hints: ["curl"],
    pattern:
      "(curl[^\\n|&;]{0,400} (?:-u|--user|--proxy-user)[ =]{0,3}[\\\\]{0,3}[\"']?[^ \\t\\r\\n:\"']{1,200}:)([^ \\t\\r\\n\"'\\\\]{1,})",
  },
  {
    id: "cookie",
    hints: ["curl"],
    pattern:
      "(curl[^\\n|&;]{0,400} (?:-b|--cookie)[ =]{1,3}[\\\\]{0,3}[\"'][A-Za-z0-9_.-]{1,100}=)([^\\r\\n\"'\\\\]{1,})",
  },
  {
    id: "cookie",
    hints: ["curl"],
    pattern: "(curl[^\\n|&;]{0,400} (?:-b|--cookie)[ =]{1,3}[A-Za-z0-9_.-]{1,100}=)([^ \\t\\r\\n\"'\\\\]{1,})",
  },
  ...COMMANDS,
  { id: "password", hints: ["sshpass"], pattern: "(sshpass +-p *[\"']?)([^ \\t\\r\\n\"']{1,})" },
  {
    id: "password",
    hints: ["mysql", "mariadb"],
    pattern: "((?:mysql|mariadb)[a-z_-]{0,20}(?: [^\\n|&;]{0,200})? -p[\"']?)([^ \\t\\r\\n\"']{1,})",
  },
];

/** Words before `=` or `:`. `tokens` is none of them: what is counted is no secret. */
const PASSWORD =
  "pass(?:word|wd|phrase|code|wort)|(?:db|root|admin|store|key)pass|[_-]pass|[^a-z]pw|contrase[nñ]a|mot de passe|kennwort";
const SECRET = "secret";
const TOKEN = "token|_auth";
const KEY =
  "(?:api|access|secret|private|auth|client|sign|signing|encrypt|encryption|crypt|cipher|master|account|admin|ingest|server|fastly|shared|sharedaccess|storage|subscription|app|application|license|webhook|deploy|consumer|service|hmac|jwt|ssh)[_. -]?key|credential";
/** What may stand between the word and the sign: `secretAccessKey`, `password2`, `SECRET_KEY_BASE`. */
const SUFFIX = "(?:[_.-]?(?:key|access[_-]?key|key[_-]?base|base|value|text|string|raw|salt|[0-9]{1,3}))?";
const NAME_END = `${SUFFIX}[\\\\]{0,3}["'\`]?\\]?`;
const SIGN = "[ \\t]{0,8}(?::=|[:=：])[ \\t]{0,8}";
const SIGN_OR_ARROW = "[ \\t]{0,8}(?::=|=>|[:=：])[ \\t]{0,8}";
/** `apiKey: string = "…"`, `token: &'static str = "…"` */
const TYPED_SIGN = "[?!]?[ \\t]{0,4}:[ \\t]{0,4}[&A-Za-z][A-Za-z0-9_<>| .'\\[\\]]{0,40}=[ \\t]{0,4}";
/** `==` compares: what follows is no value of it. */
const UNQUOTED_START = "[^ \\t\\r\\n\"'`,;&|<>\\\\=~]";
const UNQUOTED = "[^ \\t\\r\\n\"'`,;&|<>\\\\]";

/** A space, the next text of a list, the next line of a command. */
const BEHIND_OPTION = `(?:[ ]{0,3}[\\\\][\\r\\n]{1,2}[ \\t]{0,40}["']?|[ =]{1,3}["']?|["'][ ]{0,2},[ \\t\\r\\n]{0,40}["'])`;

interface Words {
  readonly id: string;
  readonly words: string;
  readonly hints: readonly string[];
  /** Shorter values are none. */
  readonly minLength: number;
}

/** A value in quotes, which may be escaped themselves; one without; one behind an option of a command. */
function assigned({ id, words, hints, minLength: min }: Words): readonly Rule[] {
  const quoted = [
    `"(?:[^"\\\\\\r\\n]|\\\\[^\\r\\n]){${min},}`,
    `'(?:[^'\\\\\\r\\n]|\\\\[^\\r\\n]){${min},}`,
    `\`[^\`]{${min},}`,
    `[\\\\]{1,3}"[^"\\\\\\r\\n]{${min},}`,
    `[\\\\]{1,3}'[^'\\\\\\r\\n]{${min},}`,
  ].join("|");
  const rule = { id, ignoreCase: true, ordinary: "assigned" } as const;
  const rest = `{${min - 1},}`;
  return [
    { ...rule, hints, pattern: `((?:${words})${NAME_END}(?:${SIGN_OR_ARROW}[a-z]?|${TYPED_SIGN}))(${quoted})` },
    { ...rule, hints, pattern: `((?:${words})${NAME_END}${SIGN})(${UNQUOTED_START}${UNQUOTED}${rest})` },
    {
      ...rule,
      hints: ["--"],
      pattern: `(--(?:[a-z0-9]{1,20}-){0,4}(?:${words})${BEHIND_OPTION})([^ \\t\\r\\n"'\`|&;<>-][^ \\t\\r\\n"'\`|&;<>]${rest})`,
    },
  ];
}

const ASSIGNED: readonly Rule[] = [
  ...assigned({ id: "password", words: PASSWORD, hints: ["pass", "pw", "contrase", "kennwort"], minLength: 1 }),
  ...assigned({ id: "secret", words: SECRET, hints: ["secret"], minLength: 4 }),
  ...assigned({ id: "api-key", words: KEY, hints: ["key", "credential"], minLength: 8 }),
  ...assigned({ id: "token", words: TOKEN, hints: ["token", "_auth"], minLength: 8 }),
  // .npmrc, where a value of any length is one
  { id: "token", hints: ["_auth"], pattern: "(_auth(?:Token)? ?= ?[\"']?)([^ \\t\\r\\n\"'$][^ \\t\\r\\n\"']*)" },
  {
    // PWD is the shell's folder as well
    id: "password",
    hints: ["pwd"],
    ignoreCase: true,
    ordinary: "assigned",
    pattern: `(pwd${NAME_END}${SIGN}["']?)([^ \\t\\r\\n"'\`,;&|<>\\\\=/~.$][^ \\t\\r\\n"'\`,;&|<>\\\\]*)`,
  },
  {
    id: "password",
    hints: ["<"],
    ignoreCase: true,
    ordinary: "assigned",
    pattern: "(<[a-z0-9:_.-]{0,40}(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key)>)([^<>]{1,})",
  },
  {
    id: "aws-account",
    hints: ["account"],
    ignoreCase: true,
    pattern: `(account(?:[_-]?id)?["']?${SIGN_OR_ARROW}["']?)([0-9]{4}-?[0-9]{4}-?[0-9]{4})`,
  },
];

/** Who, not what: each with a switch of its own. */
export const EMAIL_RULE: Rule = {
  id: "email",
  hints: ["@"],
  ordinary: "address",
  pattern: "[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\\.[A-Za-z0-9-]{1,63}){0,8}\\.[A-Za-z]{2,24}",
};

export const HOME_RULES: readonly Rule[] = [
  {
    id: "user",
    hints: ["/home/", "/Users/"],
    ordinary: "home",
    pattern: "((?:^|[^A-Za-z0-9._~-])/(?:home|Users)/)([^/ \\t\\r\\n\"'`:;,<>|()\\\\?*]{1,64})",
  },
  {
    id: "user",
    hints: [":\\"],
    ignoreCase: true,
    ordinary: "home",
    pattern: "([A-Z]:[\\\\]{1,4}Users[\\\\]{1,4})([^/\\\\ \\t\\r\\n\"'`:;,<>|()?*]{1,64})",
  },
  {
    // A path that was made a file's name: Claude Code's folders for projects
    id: "user",
    hints: ["-home-", "-Users-"],
    ordinary: "home",
    pattern: "((?:^|[/ \"'`])-(?:home|Users)-)([A-Za-z0-9_]{1,64})",
  },
];

/** Secrets, in the order in which they give a finding its name. */
export const SECRET_RULES: readonly Rule[] = [...ISSUED, ...FORMED, ...ASSIGNED];

/** A rule as the Collector's `redaction` processor takes it (RE2). */
export const re2 = ({ pattern, ignoreCase }: Pick<Rule, "pattern" | "ignoreCase">): string =>
  ignoreCase === true ? `(?i)${pattern}` : pattern;
