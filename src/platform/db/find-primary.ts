import { readFile } from 'node:fs/promises'
import pg from 'pg'
import type { DatabaseAddress, DatabaseHost } from './database-address.ts'
import { destroyClient } from './destroy-client.ts'

const PROBE_MS_MAX = 2_500

/** Thrown when no host of the address takes writes: all are standbys, or do not answer. */
export class NoPrimary extends Error {
  constructor(hosts: readonly DatabaseHost[], reasons: readonly unknown[]) {
    const texts = hosts.map(
      ({ host, port }, index) => `${host}:${port}: ${reasonOf(reasons[index])}`,
    )
    super(`no database takes writes (${texts.join('; ')})`)
    this.name = 'NoPrimary'
  }
}

/**
 * Returns the first host that says it takes writes. All are asked at once, so that a dead one costs no time. If two say
 * so, the manager of the fail-over has not stopped the old primary; nothing here can tell which one is right.
 */
export async function findPrimary(address: DatabaseAddress): Promise<DatabaseHost> {
  const { hosts } = address
  const probes = hosts.map((host) => probe(address, host))
  try {
    return await Promise.any(probes)
  } catch (error) {
    throw new NoPrimary(hosts, (error as AggregateError).errors)
  }
}

async function probe(address: DatabaseAddress, place: DatabaseHost): Promise<DatabaseHost> {
  const client = new pg.Client({
    connectionString: address.connectionString,
    application_name: 'catraca-probe',
    ...(address.options === undefined ? {} : { options: address.options }),
    connectionTimeoutMillis: PROBE_MS_MAX,
    query_timeout: PROBE_MS_MAX,
  })
  Object.assign(client, place)
  usePasswordFile(client, address)
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ transaction_read_only: string }>(
      'show transaction_read_only',
    )
    if (rows[0]?.transaction_read_only !== 'off') throw new Error('it is a standby')
    return place
  } finally {
    destroyClient(client)
  }
}

function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || String(error)
}

/** Makes the client read its password from the file of the address, if it has one, at the moment of connecting. */
export function usePasswordFile(client: pg.Client, { passwordFile }: DatabaseAddress): void {
  if (passwordFile === undefined) return
  const password = async (): Promise<string> => (await readFile(passwordFile, 'utf8')).trim()
  // A function in the configuration is overwritten by the address, which has no password.
  Object.assign(client, { password })
}
