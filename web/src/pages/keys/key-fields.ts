/** Converts between the form's fields and the API's body. */
import type { Body } from '../../api/client.ts'
import { dayOf, endOfDay } from '../../format/date.ts'
import { parseAmount } from '../../format/parse-amount.ts'
import { typedAmount } from '../../format/typed-amount.ts'
import { formText } from '../../lib/form-text.ts'
import type { ApiKey } from './key-queries.ts'
import { t } from '../../language/t.ts'

export type KeyInput = Body<'post', '/api-keys'>

export const BUDGET_DECIMALS = 6
/** The hidden field with the rate of a budget that is typed in reais; empty for dollars. */
export const BUDGET_RATE = 'budget_rate'
const CAP_DECIMALS = 2
export const CAP_FIELDS = ['minute_cap_brl', 'day_cap_brl', 'task_cap_brl'] as const

/**
 * Returns only the changes from `key`; for a new key, every field that was filled in. A fault names its field.
 */
export function readKeyForm(
  form: HTMLFormElement,
  models: readonly string[] | null,
  key: ApiKey | undefined,
): { input: KeyInput } | { fault: { field: string; text: string } } {
  const fields = new FormData(form)
  const text = (name: string): string => formText(fields, name)
  const numberOf = (name: string): number | null =>
    text(name) === '' ? null : Number(text(name).replaceAll(/[.\s]/g, ''))
  const amount = text('budget') === '' ? null : parseAmount(text('budget'), BUDGET_DECIMALS)
  if (amount === undefined)
    return { fault: { field: 'budget', text: t('Digite um valor, como 10 ou 2,50.') } }
  const caps: { -readonly [Field in (typeof CAP_FIELDS)[number]]?: number | null } = {}
  for (const field of CAP_FIELDS) {
    const cap = text(field) === '' ? null : parseAmount(text(field), CAP_DECIMALS)
    if (cap === undefined)
      return { fault: { field, text: t('Digite um valor em reais, como 10 ou 2,50.') } }
    caps[field] = cap
  }
  const requests = numberOf('requests_per_minute')
  const callsAtOnce = numberOf('calls_at_once')
  const tokens = numberOf('tokens_per_minute')
  const cacheSeconds = numberOf('cache_seconds')
  for (const [field, value] of [
    ['requests_per_minute', requests],
    ['tokens_per_minute', tokens],
    ['calls_at_once', callsAtOnce],
    ['cache_seconds', cacheSeconds],
  ] as const) {
    if (value !== null && !Number.isSafeInteger(value))
      return { fault: { field, text: t('Digite um número inteiro.') } }
  }
  const rate = text(BUDGET_RATE)
  const period = text('period') as NonNullable<ApiKey['budget']>['period']
  const addresses = text('ip_allowlist')
    .split(/[\s,;]+/)
    .filter((entry) => entry !== '')
  const day = text('expires_at')
  const given: KeyInput = {
    name: text('name'),
    // A team's key has no such field.
    ...(fields.has('scope') ? { scope: text('scope') as ApiKey['scope'] } : {}),
    // `*`: every model, also those that the catalog gets later.
    model_ids: models ?? ['*'],
    ...(requests === null ? {} : { requests_per_minute: requests }),
    tokens_per_minute: tokens,
    calls_at_once: callsAtOnce,
    cache_seconds: cacheSeconds,
    auto_cache: fields.has('auto_cache'),
    ...caps,
    budget:
      amount === null
        ? null
        : { limit_usd: rate === '' ? amount : toUsd(amount, Number(rate)), period },
    ip_allowlist: addresses.length === 0 ? null : addresses,
    // The key expires at the end of the day in the customer's time zone.
    ...(key && day === expiryText(key)
      ? {}
      : { expires_at: day === '' ? null : endOfDay(day).toISOString() }),
  }
  return { input: key ? changesOf(given, key) : given }
}

function changesOf(given: KeyInput, key: ApiKey): KeyInput {
  const { spent_usd: _, ...budget } = key.budget ?? { spent_usd: 0 }
  const before: Readonly<Record<string, unknown>> = {
    ...key,
    budget: key.budget && budget,
  }
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => !isSame(value, before[name])),
  )
}

/** The two sides write their properties in the same order. */
function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

/** Empty for a key that does not expire. */
export function expiryText(key: ApiKey | undefined): string {
  return key?.expires_at ? dayOf(key.expires_at) : ''
}

export function capFieldText(cap: number | null | undefined): string {
  return cap === null || cap === undefined ? '' : typedAmount(cap)
}

/** The API's budgets are in dollars, with six decimals at most. */
export function toUsd(amountBrl: number, rate: number): number {
  return Number((amountBrl / rate).toFixed(BUDGET_DECIMALS))
}

export function budgetText(key: ApiKey | undefined): string {
  return key?.budget ? typedAmount(key.budget.limit_usd) : ''
}
