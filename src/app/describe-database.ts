import { readDatabaseAddress } from '../platform/db/database-address.ts'

/** Returns the database as people may see it: without its password. */
export function describeDatabase(databaseUrl: string): string {
  const { connectionString, hosts, isPooled } = readDatabaseAddress(databaseUrl)
  if (!URL.canParse(connectionString)) return 'the database of DATABASE_URL'
  const { hostname, port, pathname, searchParams } = new URL(connectionString)
  const one = searchParams.get('host') ?? `${hostname}:${port || 5432}`
  const places =
    hosts.length === 0 ? one : hosts.map((each) => `${each.host}:${each.port}`).join(', ')
  const pooler = isPooled ? ', through a pooler' : ''
  return `the database ${decodeURIComponent(pathname.slice(1))} at ${places}${pooler} (DATABASE_URL)`
}
