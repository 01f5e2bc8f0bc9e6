/** Reads messages of the identity provider, in the formats of Clerk, Supabase and WorkOS. */
import { isMailAddress } from '../deliveries/email/mail-address.ts'
import { isObject } from '../platform/lib/is-object.ts'

export interface ProviderUser {
  readonly externalId: string
  /** Undefined if the message has no name; likewise for the e-mail. */
  readonly name: string | undefined
  readonly email: ProviderEmail | undefined
  /** By the provider's clock. */
  readonly changedAt: Date
}

/** Only a verified address proves who owns it. */
export type ProviderEmail =
  | { readonly kind: 'verified'; readonly address: string }
  | { readonly kind: 'unverified' }
  | { readonly kind: 'none' }

export type UserEvent =
  | { readonly kind: 'created' | 'updated'; readonly type: string; readonly user: ProviderUser }
  | { readonly kind: 'deleted'; readonly type: string; readonly externalId: string }
  | { readonly kind: 'unknown_type'; readonly type: string }
  | { readonly kind: 'unreadable'; readonly type: string | null }

type Fields = Readonly<Record<string, unknown>>

const EXTERNAL_ID_MAX = 255
const TYPE_MAX = 100
/** The database's own limit. */
const NAME_MAX = 200
/** A smaller number is in seconds; in milliseconds it would be before March 1973. */
const MILLISECONDS_FROM = 100_000_000_000
const YEAR_2200 = 7_258_118_400_000

/** Reads a message of the identity provider. `sentAt` is the time of the change if the message names none. */
export function readUserEvent(body: unknown, sentAt: Date): UserEvent {
  const { type: named, event, data, timestamp } = isObject(body) ? (body as Fields) : {}
  const given = named ?? event
  if (typeof given !== 'string') return { kind: 'unreadable', type: null }
  const type = plain(given).slice(0, TYPE_MAX)
  if (!/^user\.(created|updated|deleted)$/.test(type)) return { kind: 'unknown_type', type }
  const fields = isObject(data) ? (data as Fields) : {}
  const externalId = fields['id']
  if (typeof externalId !== 'string' || externalId === '' || externalId.length > EXTERNAL_ID_MAX)
    return { kind: 'unreadable', type }
  if (type === 'user.deleted') return { kind: 'deleted', type, externalId }
  const changedAt = readTime(fields['updated_at']) ?? readTime(timestamp) ?? sentAt
  const user = { externalId, name: nameIn(fields), email: emailIn(fields), changedAt }
  return { kind: type === 'user.created' ? 'created' : 'updated', type, user }
}

function nameIn(fields: Fields): string | undefined {
  const { first_name, last_name, name, full_name, user_metadata, username } = fields
  const metadata = isObject(user_metadata) ? (user_metadata as Fields) : {}
  const whole = [first_name, last_name].map(lineOf).filter(Boolean).join(' ')
  const others = [name, full_name, metadata['full_name'], metadata['name'], username].map(lineOf)
  const found = [whole, ...others].find(Boolean)
  return found && Array.from(found).slice(0, NAME_MAX).join('').trim()
}

/** Clerk lists addresses with the id of the primary one; the other providers send a single address. */
function emailIn(fields: Fields): ProviderEmail | undefined {
  const { email_addresses: list, primary_email_address_id: primaryId } = fields
  if (Array.isArray(list)) {
    const primary = list.find((each) => isObject(each) && (each as Fields)['id'] === primaryId)
    if (!primary || typeof primaryId !== 'string') return { kind: 'none' }
    const { email_address, verification } = primary as Fields
    const status = isObject(verification) ? (verification as Fields)['status'] : undefined
    return toEmail(email_address, status === 'verified')
  }
  const { email, email_verified, email_confirmed_at } = fields
  if (email === undefined) return undefined
  const isConfirmed = readTime(email_confirmed_at) !== undefined
  return toEmail(email, email_verified === true || isConfirmed)
}

function toEmail(given: unknown, isVerified: boolean): ProviderEmail {
  if (typeof given !== 'string' || given === '') return { kind: 'none' }
  const address = given.toLowerCase()
  return isVerified && isMailAddress(address)
    ? { kind: 'verified', address }
    : { kind: 'unverified' }
}

function readTime(given: unknown): Date | undefined {
  const read =
    typeof given === 'number'
      ? given * (given < MILLISECONDS_FROM ? 1000 : 1)
      : typeof given === 'string'
        ? Date.parse(given)
        : Number.NaN
  return read > 0 && read < YEAR_2200 ? new Date(read) : undefined
}

function lineOf(given: unknown): string {
  return typeof given === 'string' ? plain(given).replaceAll(/\s+/g, ' ').trim() : ''
}

/** Well-formed text for the database, with control and format characters replaced by spaces. */
function plain(text: string): string {
  return text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
}
