/** Whether a host name, as in `URL.hostname`, always means this machine: no name server decides where it leads (RFC 6761). */
export const isLoopback = (hostname: string): boolean =>
  /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i.test(hostname);
