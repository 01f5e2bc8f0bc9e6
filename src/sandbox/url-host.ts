/**
 * Returns the host in the URL of a server that listens on this address; a wildcard address becomes the loopback
 * address.
 */
export function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
