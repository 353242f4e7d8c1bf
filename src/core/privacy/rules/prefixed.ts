import { type Rule, token, word } from "./rule.ts";

/** Prefixes that other services use alone: the characters that follow, how many of them at least, and the prefixes. */
const PREFIXES = `
[a-f0-9]{16,} NRJS-
[a-f0-9]{28,} apikey_ cs_ key_
[a-f0-9]{32,} pul- sqa_ sqp_ squ_ FLWSECK- s-s4t2ud- s-s4t2af-
[a-f0-9-]{30,} PRD-
[a-f0-9-]{36,} sk_ sdk- access-sandbox- access-development- access-production-
[A-Fa-f0-9]{40,} crsr_ rootly_ sgp_ sgp_local_ shippo_live_ shippo_test_
[A-Z0-9]{24,} API-
[a-z0-9]{32,} bkua_ CLOJARS_ cog_ hcaik_ napi_ os_v2_app_ os_v2_org_ oy2 p8e- pk_ rdme_ SWMTKN-1- waka_ zpka_
[A-Za-z0-9]{16,} LTAI sm_aat_ sm_pat_ sm_sat_ STS. dvc_client_ dvc_mobile_ dvc_server_
[A-Za-z0-9]{20,} AIK_CI_ AstraCS: m0- rnd_ rpa_ samsara_api_ ucat_ unkey_
[A-Za-z0-9]{26,} AIK_SECRET_ cio db- sk_ api_org_ apify_api_ csa_ ddp_ ico- ion_ llx- nfp_ nyk_ pnu_ ramp_sec_ xnd_development_ xnd_production_
[A-Za-z0-9]{50,} cmVmd EAAC EAAM EZAK EZTK napi_ sgp_
[A-Za-z0-9_-]{10,} Mid-client- Mid-server-
[A-Za-z0-9_-]{16,} endr+ dvc_client_ lip_ sk_car_
[A-Za-z0-9_-]{20,} polar_at_ polar_oat_ polar_pat_ api_live. api_live_ca. api_live_us. api_test. $aact_hmlg_ $aact_prod_ BSA configcat-sdk-1/ EAAA prf_cli_ tskey- vtwn_
[A-Za-z0-9_-]{30,} AQ.Ab8RN AQVN bkaa_ bkaj_ bkar_ bkct_ bkpat_ bkps_ bkpt_ CCDB1_ CCIPAT_ CCIPRJ_
[A-Za-z0-9_-]{30,} cfat_ CFPAT- cfut_ cnvca duffel_live_ duffel_test_ eyJtaXJv HRKU- lbx_ mdb_sa_sk_ mercury_production_ mlsn. pdl_live_apikey_
[A-Za-z0-9_-]{30,} pdl_sdbx_apikey_ persona_production_ persona_sandbox_ phc_ phx_ pina_ rma_ sha256~ sk-api-
[A-Za-z0-9_-]{30,} sk-kimi- sk-litellm- tgp_v1_ tk-us- wandb_v1_ mergify_application_key_
[A-Za-z0-9_=-]{40,} dnkey- fio-u- live_
[A-Za-z0-9_.=-]{40,} tfp_ sl.
[A-Za-z0-9_-]{43,} al- pa-
[A-Za-z0-9+/=_-]{28,} CAIS BBDC- bedrock-api-key- essu_ fm1_ fm1a_ fm1r_ fm2_ SWMKEY-1-
[A-Za-z0-9+/=]{60,} apk_ apk_user_
[A-Za-z0-9+/=%_-]{60,} xoxd-`
  .trim()
  .split("\n")
  .map((line) => line.split(" "));

const escaped = (text: string): string => text.replace(/[.$+]/g, "[$&]");

/** Prefixes of services whose tokens have parts. */
const SERVICES: readonly (readonly [hint: string, pattern: string])[] = [
  ["dp.", "dp\\.(?:pt|st|ct|sa|scim|audit)\\.(?:[a-z0-9_-]{1,30}\\.)?[A-Za-z0-9]{40,}"],
  ["sq0", "sq0[a-z]{3}-[A-Za-z0-9_-]{22,}"],
  ["re_", "re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}"],
  ["pat-", "pat-(?:na|eu)[0-9]-[a-f0-9-]{36}"],
  ["FlyV1 ", "FlyV1 [A-Za-z0-9+/=_,-]{60,}"],
  ["na1.", "na1\\.[A-Za-z0-9]{20,}"],
  ["eu1.", "eu1\\.[A-Za-z0-9]{20,}"],
  ["pk_", "pk_[0-9]{8,9}_[a-z0-9]{32}"],
  ["sgp_", "sgp_(?:[A-Fa-f0-9]{16}|local)_[A-Fa-f0-9]{40}"],
  ["t1.", "t1\\.[A-Za-z0-9_-]{1,200}={0,2}\\.[A-Za-z0-9_-]{80,}"],
  ["100", "100[0-9]\\.[a-f0-9]{32}(?:\\.[a-f0-9]{32})?"],
  ["access_token$", "access_token[$][a-z]{1,20}[$][a-z0-9]{16}[$][a-f0-9]{32}"],
  ["APA91b", "[A-Za-z0-9_-]{4,20}:APA91b[A-Za-z0-9_-]{60,}"],
  ["sk.eyJ", "sk\\.eyJ[A-Za-z0-9_-]{20,200}\\.[A-Za-z0-9_-]{20,}"],
  ["-us", "[a-f0-9]{32}-us[0-9]{1,2}"],
  ["00D", "00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{40,}"],
  ["pat", "pat[A-Za-z0-9]{14}\\.[a-f0-9]{64}"],
  ["at.", "[ps]at\\.[A-Za-z0-9_-]{22}\\.[a-f0-9]{24}\\.[A-Za-z0-9]{20}"],
  [".acc", "(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\\.[a-z0-9]{4,6}\\.acc[_-][a-z0-9-]{10,32}\\.[a-z0-9+/_=-]{30,}"],
  ["gcntfy-", "gcntfy-[a-z0-9_]{1,60}-[a-f0-9-]{73}"],
  ["_mmk", "[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"],
  ["v1.0-", "v1\\.0-[a-f0-9]{24}-[a-f0-9]{146}"],
  ["==:", "[A-Za-z0-9+/]{22}==:[A-Za-z0-9]{32}"],
  ["FLWSECK_TEST-", "FLWSECK_TEST-[A-Za-z0-9]{12,}"],
  ["|", "[0-9]{15,16}[|][A-Za-z0-9_-]{27,}"],
  ["wrka", "wrka(?:[a-z]{2})?-eyJ[A-Za-z0-9_-]{8,400}\\.[A-Za-z0-9_-]{16,400}\\.[A-Za-z0-9_-]{30,}"],
];

/** Secrets that begin with a prefix of the service that issued them. */
export const PREFIXED: readonly Rule[] = [
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
  token("discord-webhook", ["/api/webhooks/"], "/api/webhooks/[0-9]{10,30}/[A-Za-z0-9_-]{20,}"),
  token("google-key", ["AIza"], "AIza[A-Za-z0-9_-]{30,}"),
  token("google-key", ["GOCSPX-"], "GOCSPX-[A-Za-z0-9_-]{20,}"),
  token("google-token", ["ya29."], "ya29\\.[A-Za-z0-9_-]{16,}"),
  word("hugging-face-token", ["hf_"], "hf_[A-Za-z0-9]{20,}"),
  word("npm-token", ["npm_"], "npm_[A-Za-z0-9]{30,}"),
  word("pypi-token", ["pypi-"], "pypi-[A-Za-z0-9_-]{16,}"),
  token("digitalocean-token", ["_v1_"], "do[opr]_v1_[a-f0-9]{32,}"),
  word("sendgrid-key", ["SG."], "SG\\.[A-Za-z0-9_=.-]{40,}"),
  token(
    "stripe-key",
    ["k_live_", "k_test_", "k_prod_", "whsec_"],
    "(?:[prs]k_(?:live|test|prod)|whsec)_[A-Za-z0-9]{10,}",
  ),
  token("shopify-token", ["shp"], "shp(?:at|ca|pa|ss|ua|ppa)_[A-Za-z0-9]{32,}"),
  word("databricks-token", ["dapi"], "dapi[A-Fa-f0-9]{32,}(?:-[0-9])?"),
  word("vault-token", ["hvs.", "hvb.", "hvr."], "hv[bsr]\\.[A-Za-z0-9_-]{20,}"),
  token("linear-key", ["lin_"], "lin_(?:api|oauth)_[A-Za-z0-9_]{20,}"),
  word("notion-token", ["ntn_", "secret_"], "(?:ntn|secret)_[A-Za-z0-9]{40,}"),
  token("figma-token", ["figd_"], "figd_[A-Za-z0-9_-]{20,}"),
  token("postman-key", ["PMAK-"], "PMAK-[a-f0-9]{24}-[a-f0-9]{30,}"),
  token("new-relic-key", ["NRAK-"], "NRAK-[A-Za-z0-9]{20,}"),
  token("grafana-token", ["glc_", "glsa_"], "gl(?:c|sa)_[A-Za-z0-9+/=_]{20,}"),
  token("sentry-token", ["sntry"], "sntry[su]_[A-Za-z0-9+/=_-]{20,}"),
  token("supabase-token", ["sbp_"], "sbp_[A-Za-z0-9_-]{40,}"),
  token("planetscale-token", ["pscale_"], "pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{20,}"),
  token("docker-token", ["dckr_"], "dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
  token("atlassian-token", ["ATAT", "ATCTT3x", "ATBB"], "(?:ATAT|ATCTT3x|ATBB)[A-Za-z0-9_=+/.-]{20,}"),
  token("terraform-token", [".atlasv1."], "[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_=-]{40,}"),
  token("artifactory-key", ["AKCp"], "AKCp[A-Za-z0-9]{60,}"),
  token(
    "model-provider-key",
    ["gsk_", "xai-", "pplx-", "tvly-", "r8_", "fw_", "nvapi-", "jina_"],
    "(?:gsk_|xai-|pplx-|tvly-|r8_|fw_|nvapi-|jina_)[A-Za-z0-9_-]{24,}",
  ),
  token("langsmith-key", ["lsv2_"], "lsv2_(?:pt|sk)_[A-Fa-f0-9]{32}_[A-Fa-f0-9]{8,}"),
  token(
    "age-key",
    ["AGE-SECRET-KEY-", "AGE-PLUGIN-"],
    "AGE-(?:SECRET-KEY-(?:PQ-)?|PLUGIN-[A-Z0-9]{1,30}-)1[A-Z0-9]{20,}",
  ),
  token("rubygems-key", ["rubygems_"], "rubygems_[a-f0-9]{40,}"),
  token("one-password-token", ["ops_ey"], "ops_ey[A-Za-z0-9_+/=-]{20,}"),
  word("vercel-token", ["vc"], "vc[piark]_[A-Za-z0-9_-]{20,}"),
  token("mailgun-key", ["key-"], "key-[a-f0-9]{32,}"),
  token("brevo-key", ["xkeysib-"], "xkeysib-[A-Fa-f0-9]{40,}"),
  token("dynatrace-token", ["dt0"], "dt0[a-z][0-9]{2}\\.[A-Za-z0-9]{20,30}\\.[A-Za-z0-9]{40,}"),
  token("azure-secret", ["Q~"], "[0-9]Q~[A-Za-z0-9_~.-]{30,}"),
  word("telegram-token", [":AA"], "[0-9]{8,12}:AA[A-Za-z0-9_-]{30,}"),
  word("twilio-key", ["SK"], "SK[A-Fa-f0-9]{32}"),
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
  ...PREFIXES.map(([following = "", ...prefixes]) =>
    word("service-token", prefixes, `(?:${prefixes.map(escaped).join("|")})${following}`),
  ),
  token(
    "webhook",
    ["webhook.office.com/", "hooks.zapier.com/", "maker.ifttt.com/"],
    "(?:webhook\\.office\\.com/webhookb2|hooks\\.zapier\\.com/hooks/catch|maker\\.ifttt\\.com/trigger)/[A-Za-z0-9_/@.-]{12,}",
  ),
];
