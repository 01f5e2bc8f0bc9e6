/**
 * Handles the identity provider's events about its users, who are created, changed and deleted as customers. A message
 * takes effect in the same transaction that stores its id, so exactly once, also after a crash. Messages may come in
 * any order and concurrently: the newest state by the provider's clock wins, and a deletion is final.
 *
 * A customer gets an e-mail only if the provider has verified it and neither another customer nor an admin has it: an
 * e-mail that somebody only claims gives neither an account nor a right.
 */
import { sql } from 'kysely'
import { audited, type Actor, type RecordAct } from '../platform/audit-log/audited.ts'
import {
  changeCustomer,
  createCustomer,
  findCustomer,
  type Customer,
} from '../customers/customers.ts'
import type { Database } from '../platform/db/open.ts'
import { deleteUser, linkExternalUser, lockExternalUser, type ExternalUser } from './delete-user.ts'
import {
  readUserEvent,
  type ProviderEmail,
  type ProviderUser,
  type UserEvent,
} from './read-user-event.ts'

/** Longer than any provider retries; the signature check refuses later replays as too old. */
const DAYS_KEPT = 14

export async function pruneAuthEvents(db: Database): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from auth_events where received_at < now() - make_interval(days => ${DAYS_KEPT})`.execute(
    db,
  )
  return Number(numAffectedRows)
}

export interface AuthEvent {
  /** The same id in every delivery of a message. */
  readonly id: string
  readonly sentAt: Date
  /** The parsed JSON; undefined if the body is not JSON. */
  readonly body: unknown
}

export interface TakeOptions {
  readonly actor: Actor
  /** In lower case. No event can give a customer one of these. */
  readonly adminEmails: Pick<ReadonlySet<string>, 'has'>
}

export type AuthEventOutcome =
  | 'seen_before'
  | 'unknown_type'
  | 'unreadable'
  | 'customer_created'
  | 'customer_changed'
  | 'nothing_new'
  | 'account_deleted'
  | 'deletion_waits'

export interface TakenAuthEvent {
  readonly outcome: AuthEventOutcome
  readonly type: string | null
}

/** The name of a customer who provided none. */
const NAMELESS = 'Cliente'
/** Unique violation (another transaction took the e-mail at the same time) and deadlock. */
const RETRYABLE_CODES = new Set(['23505', '40P01'])
const ATTEMPTS_MAX = 3

export async function takeAuthEvent(
  db: Database,
  event: AuthEvent,
  options: TakeOptions,
): Promise<TakenAuthEvent> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await takeOnce(db, event, options)
    } catch (error) {
      if (
        !RETRYABLE_CODES.has(String((error as { code?: unknown }).code)) ||
        attempt >= ATTEMPTS_MAX
      )
        throw error
    }
  }
}

function takeOnce(db: Database, { id, sentAt, body }: AuthEvent, options: TakeOptions) {
  return audited(db, options.actor, async (trx, record): Promise<TakenAuthEvent> => {
    const read = readUserEvent(body, sentAt)
    const { type } = read
    // Waits for a concurrent transaction that handles the same message.
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('auth_events')
      .values({ id, type })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (numInsertedOrUpdatedRows !== 1n) return { outcome: 'seen_before', type }
    const outcome = await handle(trx, record, read, options)
    await trx.updateTable('auth_events').set({ outcome }).where('id', '=', id).execute()
    return { outcome, type }
  })
}

async function handle(
  trx: Database,
  record: RecordAct,
  event: UserEvent,
  { actor, adminEmails }: TakeOptions,
): Promise<AuthEventOutcome> {
  if (event.kind === 'unknown_type' || event.kind === 'unreadable') return event.kind
  if (event.kind === 'deleted') return deleteUser(trx, record, actor, event.externalId)
  const { user } = event
  const known = await lockExternalUser(trx, user.externalId)
  if (known.deletedAt) return 'nothing_new'
  const email = emailFor(user.email, adminEmails)
  if (known.customerId === null) return create(trx, record, known, user, email)
  const newestMs = known.changedAt?.getTime() ?? 0
  const isNews =
    event.kind === 'created'
      ? user.changedAt.getTime() > newestMs
      : user.changedAt.getTime() >= newestMs
  return isNews ? change(trx, record, known, user, email) : 'nothing_new'
}

interface WantedEmail {
  /** Undefined: unknown, so the stored one stays. Null: none. */
  readonly address: string | null | undefined
  /** An admin's address. The customer keeps it if the operator has given it to this customer. */
  readonly reserved?: string
  /** For the audit log. */
  readonly why: ProviderEmail['kind'] | 'reserved' | 'taken' | undefined
}

function emailFor(
  given: ProviderEmail | undefined,
  adminEmails: TakeOptions['adminEmails'],
): WantedEmail {
  if (given?.kind !== 'verified') return { address: given && null, why: given?.kind }
  // The owner of this address is an admin, which only the operator can grant, by the command line.
  if (adminEmails.has(given.address))
    return { address: null, reserved: given.address, why: 'reserved' }
  return { address: given.address, why: 'verified' }
}

async function create(
  trx: Database,
  record: RecordAct,
  known: ExternalUser,
  user: ProviderUser,
  email: WantedEmail,
): Promise<AuthEventOutcome> {
  const name = user.name ?? NAMELESS
  const created = await createCustomer(trx, { name, email: email.address ?? undefined })
  const isTaken = 'kind' in created
  const customer = isTaken ? await createWithoutEmail(trx, name) : created
  await linkExternalUser(trx, known, { customerId: customer.id, changedAt: user.changedAt })
  await record({
    action: 'customer.created',
    customerId: customer.id,
    subjectId: customer.id,
    details: { by: 'identity_provider', email: (isTaken ? 'taken' : email.why) ?? 'none' },
  })
  return 'customer_created'
}

async function createWithoutEmail(trx: Database, name: string): Promise<Customer> {
  const created = await createCustomer(trx, { name })
  if ('kind' in created) throw new Error('a customer without an e-mail was not created')
  return created
}

/** If the new e-mail cannot be used, the old one is removed anyway: it no longer belongs to the user. */
async function change(
  trx: Database,
  record: RecordAct,
  known: ExternalUser,
  { name, changedAt }: ProviderUser,
  email: WantedEmail,
): Promise<AuthEventOutcome> {
  const customerId = known.customerId as string
  const isKept = email.reserved !== undefined && (await hasEmail(trx, customerId, email.reserved))
  const wanted = isKept ? undefined : email.address
  const asked = await changeCustomer(trx, customerId, { name, email: wanted })
  const isTaken = asked.kind === 'email_taken'
  const changed = isTaken ? await changeCustomer(trx, customerId, { name, email: null }) : asked
  await linkExternalUser(trx, known, { customerId, changedAt })
  if (changed.kind !== 'changed' || changed.fields.length === 0) return 'nothing_new'
  await record({
    action: 'customer.changed',
    customerId,
    subjectId: customerId,
    details: {
      by: 'identity_provider',
      fields: changed.fields,
      ...(changed.fields.includes('email') ? { email: isTaken ? 'taken' : email.why } : {}),
    },
  })
  return 'customer_changed'
}

async function hasEmail(trx: Database, customerId: string, email: string): Promise<boolean> {
  return (await findCustomer(trx, customerId))?.email?.toLowerCase() === email
}
