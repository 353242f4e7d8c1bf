import { COMMANDS } from "./commands.ts";
import { POSITIONAL } from "./positional.ts";
import type { Rule } from "./rule.ts";

/** Secrets with a recognisable structure. */
export const STRUCTURED: readonly Rule[] = [
  {
    id: "private-key",
    hints: ["-----BEGIN"],
    // Up to the end marker, or to the end of a truncated text
    pattern:
      "-----BEGIN[A-Za-z0-9 %+]{1,60}PRIVATE(?: |%20|\\+)KEY[A-Za-z0-9 %+]{0,20}-----[^-]*(?:-[^-]+){0,6}(?:-----END[A-Za-z0-9 %+]{1,80}-----)?",
  },
  {
    id: "private-key",
    hints: ["LS0tLS1CRUdJTi"],
    // The same in base64: RSA, EC, DSA, OPENSSH, ENCRYPTED or none of these before PRIVATE
    pattern: "LS0tLS1CRUdJTi(?:BQUk|BSU0Eg|BFQy|BEU0Eg|BPUEVOU1NI|BFTkNS)[A-Za-z0-9+/=_-]*",
  },
  {
    id: "jwt",
    hints: [".eyJ", ".\neyJ", ".\r\neyJ"],
    // Also over lines; the last line can be shorter than the others
    pattern:
      "eyJ[A-Za-z0-9_-]{8,300}(?:[\\r\\n]{1,2}[ \\t]{0,8}[A-Za-z0-9_-]{1,200}){0,4}\\.(?:[\\r]?[\\n])?eyJ[A-Za-z0-9_-]{4,}(?:[\\r\\n]{1,2}[ \\t]{0,8}[A-Za-z0-9_.-]{20,}){0,30}(?:\\.[A-Za-z0-9_-]*){0,3}(?:[\\r\\n]{1,2}[ \\t]{0,8}[A-Za-z0-9_-]{20,}){0,6}",
  },
  // Encrypted tokens (JWE) have five parts, and their second part does not begin with `eyJ`
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
  // A token in place of the user name. The password is then no secret, or a part of the secret
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
    pattern: "([?&;](?:x-[a-z]{1,40}-)?(?:key|sig|signature|code|auth|sessionid|appid)=)([^ \\t\\r\\n&#\"'`<>]{12,})",
  },
  {
    id: "authorization",
    hints: ["authorization"],
    ignoreCase: true,
    pattern: `(authorization[\\\\]{0,3}["']?[ \\t]{0,4}[:=][ \\t]{0,4}[\\\\]{0,3}["']?(?:basic|bearer|token|digest|apikey|negotiate|hmac|signature|aws4-hmac-sha256|sharedkey|sharedaccesssignature)[ \\t]{1,4})([^\\r\\n"'\`\\\\]{1,})`,
    falsePositives: "assigned",
  },
  {
    id: "authorization",
    hints: ["authorization"],
    ignoreCase: true,
    pattern: `(authorization[\\\\]{0,3}["']?[ \\t]{0,4}[:=][ \\t]{0,4}[\\\\]{0,3}["']?)([^ \\t\\r\\n"'\`\\\\,;(){}\\[\\]]{8,})`,
    falsePositives: "assigned",
  },
  {
    id: "authorization",
    hints: ["authorization"],
    ignoreCase: true,
    // Authorization schemes of vendors. In prose, words can follow a colon too, so the value must contain a digit
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
    // In prose, words can follow "basic": a digit or padding distinguishes base64
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
      "(curl(?: [^\\n|]{0,120})? (?:-u|--user|--proxy-user)[ =]{0,3}[\\\\]{0,3}[\"']?[^ \\t\\r\\n:\"']{1,200}:)([^ \\t\\r\\n\"'\\\\]{1,})",
  },
  {
    id: "cookie",
    hints: ["curl"],
    pattern:
      "(curl(?: [^\\n|]{0,120})? (?:-b|--cookie)[ =]{1,3}[\\\\]{0,3}[\"'][A-Za-z0-9_.-]{1,100}=)([^\\r\\n\"'\\\\]{1,})",
  },
  {
    id: "cookie",
    hints: ["curl"],
    pattern: "(curl(?: [^\\n|]{0,120})? (?:-b|--cookie)[ =]{1,3}[A-Za-z0-9_.-]{1,100}=)([^ \\t\\r\\n\"'\\\\]{1,})",
  },
  ...COMMANDS,
  ...POSITIONAL,
  { id: "password", hints: ["sshpass"], pattern: "(sshpass {1,8}-p {0,8}[\"']?)([^ \\t\\r\\n\"']{1,})" },
  {
    id: "password",
    hints: ["mysql", "mariadb"],
    pattern: "((?:mysql|mariadb)[a-z_-]{0,20}(?: [^\\n|&;]{0,200})? -p[\"']?)([^ \\t\\r\\n\"']{1,})",
  },
];
