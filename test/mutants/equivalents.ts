import type { Mutant } from './make-mutants.ts'

export type Equivalent = Pick<Mutant, 'file' | 'line' | 'becomes'> & {
  readonly reason: string
}

const OWN_KEYS_ONLY =
  "the counts are by key, and are looked up for the customer's own keys: only more rows are read"
const MORE_LOCKS =
  'only more accounts are locked than needed, in the same order: others wait longer, and what is written is the same'

/** Mutants that no test can tell from the program, or that change only what no promise is about. */
export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: 'src/money/ledger/sql/batch.sql',
    line: 'select customer_id from accounts where customer_id = any (p_customer_ids)',
    becomes: 'select customer_id from accounts where true',
    reason: MORE_LOCKS,
  },
  {
    file: 'src/money/ledger/sql/batch.sql',
    line: 'perform 1 from accounts where customer_id = any (p_customer_ids) order by customer_id for no key update;',
    becomes: 'perform 1 from accounts where true order by customer_id for no key update;',
    reason: MORE_LOCKS,
  },
  {
    file: 'src/money/usage/sum-usage-by-minute.ts',
    line: "where k.customer_id = ${customerId} and k.revoked_at is null and w.window_at = date_trunc('minute', now())`.execute(",
    becomes:
      "where true and k.revoked_at is null and w.window_at = date_trunc('minute', now())`.execute(",
    reason: OWN_KEYS_ONLY,
  },
  {
    file: 'src/money/usage/sum-usage-by-minute.ts',
    line: 'where customer_id = ${customerId}',
    becomes: 'where true',
    reason: OWN_KEYS_ONLY,
  },
  {
    file: 'src/customers/preferences.ts',
    line: 'where customer_id = ${customerId} and revoked_at is null`.execute(trx)',
    becomes: 'where true and revoked_at is null`.execute(trx)',
    reason: 'nodes only read the keys of others anew, as after any change of a key',
  },
]
