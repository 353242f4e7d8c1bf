/** The address without user, password, query and fragment, which can all be credentials. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return "the OTLP address";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
