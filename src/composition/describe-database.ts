/** The database as people may see it: without its password. */
export function describeDatabase(databaseUrl: string): string {
  if (!URL.canParse(databaseUrl)) return 'the database of DATABASE_URL'
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl)
  const host = searchParams.get('host') ?? `${hostname}:${port || 5432}`
  return `the database ${decodeURIComponent(pathname.slice(1))} at ${host} (DATABASE_URL)`
}
