/** The settings of a node on a test's database: its replica, in a run that has one (`shared-database.ts`). */
export function readsOf(databaseUrl: string): { readonly DATABASE_READ_URL?: string } {
  const readAt = process.env.TEST_DATABASE_READ_AT
  const [, name] = /\/(test_[0-9a-f]+)(?:\?|$)/.exec(databaseUrl) ?? []
  if (!readAt || !name) return {}
  const url = new URL(readAt)
  url.pathname = `/${name}`
  return { DATABASE_READ_URL: url.href }
}
