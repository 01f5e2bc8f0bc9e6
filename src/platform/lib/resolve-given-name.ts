import { Resolver } from 'node:dns/promises'

export interface ResolvedAddress {
  readonly address: string
}

/** The time for one question to one name server; the second try gets twice as much. */
const TIMEOUT_MS = 3_000
const TRIES = 2

/**
 * Returns the addresses of a name that a customer or an upstream gave. The system's resolver would occupy, until the
 * server of that name answers or for ten seconds, one of the two threads that the process has for all names: two silent
 * names would keep the connections to upstreams and to the database waiting. These questions occupy sockets of their
 * own, and end with the signal. Only name servers are asked: neither a file of hosts nor a search domain leads inwards.
 */
export async function resolveGivenName(
  hostname: string,
  signal?: AbortSignal,
  /** Other name servers than those of the system. */
  servers?: readonly string[],
): Promise<readonly ResolvedAddress[]> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  if (servers) resolver.setServers(servers)
  const cancel = (): void => resolver.cancel()
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    // A name may have addresses of one kind only, and its server may not answer for the other.
    const [ipv4, ipv6] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ])
    if (ipv4.status === 'rejected' && ipv6.status === 'rejected') throw ipv4.reason
    return [ipv4, ipv6].flatMap((found) =>
      found.status === 'fulfilled' ? found.value.map((address) => ({ address })) : [],
    )
  } finally {
    signal?.removeEventListener('abort', cancel)
  }
}
