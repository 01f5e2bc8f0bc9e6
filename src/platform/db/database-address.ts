/**
 * `DATABASE_URL` beyond the parts that `pg` reads: several hosts, as in libpq (the one that takes writes is used), a
 * pooler in transaction mode (`pgbouncer=true`, as other clients call it), and the file of a password that changes.
 */
export interface DatabaseHost {
  readonly host: string
  readonly port: number
}

export interface DatabaseAddress {
  /** For `pg`, with the first host. */
  readonly connectionString: string
  /** Empty unless there are several. */
  readonly hosts: readonly DatabaseHost[]
  /** The statements of one connection may run in different sessions: nothing lasts longer than a transaction. */
  readonly isPooled: boolean
  /** The operator's own options of a session. Ours follow, so that they win. */
  readonly options: string | undefined
  /** Read again for each connection. */
  readonly passwordFile: string | undefined
}

const AUTHORITY = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/
const OWN_PARAMETERS = { pooled: 'pgbouncer', passwordFile: 'catraca_password_file' } as const
const PORT = 5432
/** `pg` would prefer these to the limits that each kind of connection has. */
const LIMITS = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
] as const

/** Reads `DATABASE_URL`. Throws a `TypeError` if this is no address of PostgreSQL. */
export function readDatabaseAddress(databaseUrl: string): DatabaseAddress {
  const [, start, authority, rest] = AUTHORITY.exec(databaseUrl) ?? []
  if (start === undefined || authority === undefined || rest === undefined)
    throw new TypeError('not an address of PostgreSQL')
  const hosts = authority.split(',')
  const cut = rest.indexOf('?')
  const parameters = new URLSearchParams(cut < 0 ? '' : rest.slice(cut))
  const isPooled = parameters.get(OWN_PARAMETERS.pooled) === 'true'
  const passwordFile = parameters.get(OWN_PARAMETERS.passwordFile) ?? undefined
  // In the connection string it would replace the options of the configuration.
  const options = parameters.get('options') ?? undefined
  for (const name of [...Object.values(OWN_PARAMETERS), ...LIMITS, 'options'])
    parameters.delete(name)
  // A parameter of libpq for several hosts, which `pg` would take for one of the session.
  parameters.delete('target_session_attrs')
  const query = parameters.size === 0 ? '' : `?${parameters.toString()}`
  return {
    connectionString: `${start}${hosts[0]}${cut < 0 ? rest : rest.slice(0, cut)}${query}`,
    hosts: hosts.length < 2 ? [] : hosts.map(readHost),
    isPooled,
    options,
    passwordFile,
  }
}

/** An address for each host, with everything else the same. */
export function splitHosts(databaseUrl: string): string[] {
  const [, start, authority, rest] = AUTHORITY.exec(databaseUrl) ?? []
  return (authority ?? '').split(',').map((host) => `${start}${host}${rest}`)
}

function readHost(text: string): DatabaseHost {
  // IPv6 addresses stand in brackets.
  const host = new URL(`http://${text}`).hostname.replace(/^\[(.*)\]$/, '$1')
  // Not the port of `URL`, which leaves out 80.
  const [, port = PORT] = /:(\d+)$/.exec(text) ?? []
  return { host, port: Number(port) }
}

export function withPasswordFile(databaseUrl: string, path: string): string {
  return withParameter(databaseUrl, OWN_PARAMETERS.passwordFile, path)
}

/** Returns the address with one more parameter. If the parameter is already there, the last value counts. */
export function withParameter(databaseUrl: string, name: string, value: string): string {
  const separator = databaseUrl.includes('?') ? '&' : '?'
  return `${databaseUrl}${separator}${name}=${encodeURIComponent(value)}`
}
