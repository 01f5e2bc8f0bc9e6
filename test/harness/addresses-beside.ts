import { urlOf } from './test-database.ts'

interface AddressesBeside {
  readonly DATABASE_READ_URL?: string
  readonly DATABASE_LISTEN_URL?: string
}

/**
 * The settings of a node on a test's database, in a run through another way (`shared-database.ts`): its replica, or
 * PostgreSQL itself for notifications, which do not pass a pooler.
 */
export function addressesBeside(databaseUrl: string): AddressesBeside {
  const { TEST_DATABASE_URL, TEST_DATABASE_READ_AT, TEST_DATABASE_THROUGH } = process.env
  const [, name] = /\/(test_[0-9a-f]+)(?:\?|$)/.exec(databaseUrl) ?? []
  if (!name) return {}
  if (TEST_DATABASE_READ_AT) return { DATABASE_READ_URL: urlOf(TEST_DATABASE_READ_AT, name) }
  const isPooled = TEST_DATABASE_THROUGH === 'pgbouncer' || TEST_DATABASE_THROUGH === 'pooler'
  if (!isPooled || !TEST_DATABASE_URL) return {}
  return { DATABASE_LISTEN_URL: urlOf(TEST_DATABASE_URL, name) }
}
