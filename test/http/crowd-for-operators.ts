/** More than one page of everything that operators list. */
import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'
import { seedCustomer } from '../harness/test-database.ts'

/** A separate customer, so that no other customer's lists grow. */
export async function crowdForOperators(db: Database, count: number): Promise<void> {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const { customerId: operatorId } = await seedCustomer(db, { balanceBrl: '0' })
  await sql`
    insert into adjustments (id, customer_id, kind, amount_nano_brl, reason, reference, status, requested_by)
    select gen_random_uuid(), ${customerId}, 'credit', 10000000, 'cortesia', 'muitos-' || n, 'pending', ${operatorId}
    from generate_series(1, ${count}::int) n`.execute(db)
  await sql`
    insert into incidents (id, source, severity, title, message, vendors, model_ids)
    select gen_random_uuid(), 'operator', 'minor', 'Incidente ' || n, 'Olhamos.', '{}', '{}'
    from generate_series(1, ${count}::int) n`.execute(db)
  await sql`
    insert into incident_updates (id, incident_id, status, severity)
    select gen_random_uuid(), id, 'opened', 'minor' from incidents`.execute(db)
  await sql`
    insert into webhook_endpoints (id, customer_id, url, secret_sealed, failing_since)
    select gen_random_uuid(), ${customerId}, 'https://hooks.example.com/', '\\x00', now()
    from generate_series(1, ${count}::int) n`.execute(db)
  await sql`
    insert into audit_log (id, actor_kind, action)
    select gen_random_uuid(), 'system', 'many.acts' from generate_series(1, ${count}::int)`.execute(
    db,
  )
  await sql`
    insert into notifications (id, customer_id, template, status, error)
    select gen_random_uuid(), ${customerId}, 'boas_vindas', 'failed', 'smtp_550'
    from generate_series(1, ${count}::int) n`.execute(db)
}
